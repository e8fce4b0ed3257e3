import { Link } from "wouter";
import type { Explanation } from "../api/types";
import { routes } from "../app/address";
import { pluralize, shortId } from "../model/format";
import { NameList } from "./About";
import styles from "./About.module.css";
import { CopyableText, Fact, Facts, Section } from "./Facts";

const MAX_FILES = 20; // files

/** What came of it, and where that is. */
export function ResultSection({ explanation }: { explanation: Explanation }) {
  const { result, batchId } = explanation;
  if (result === null) return null;
  const { branch, tip, commit, worktreePath, files, gate, published, place, ref } = result;
  return (
    <Section title="Result">
      <Facts>
        <Fact name="Merged">
          {commit !== null && (
            <>
              <CopyableText text={commit} shown={shortId(commit)} what="the commit" />
              {place !== null && `as number ${place} of `}
              <Link href={routes.review(batchId)}>its batch branch</Link>
            </>
          )}
        </Fact>
        <Fact name="Gate">{gate !== null && `${gateText(gate.passed)} on ${shortId(gate.commit)}`}</Fact>
        <Fact name="Published">{published !== null && published}</Fact>
        <Fact name="Branch">{branch !== null && <CopyableText text={branch} what="the branch" />}</Fact>
        <Fact name="Tip">
          {tip !== null && <CopyableText text={tip} shown={shortId(tip)} what="the tip" />}
        </Fact>
        <Fact name="Kept as">{ref !== null && <CopyableText text={ref} what="the ref" />}</Fact>
        <Fact name="Worktree">
          {worktreePath !== null && <CopyableText text={worktreePath} what="the path" />}
        </Fact>
        <Fact name="Files">
          {files.length > 0 && (
            <>
              <NameList names={files.slice(0, MAX_FILES)} />
              {files.length > MAX_FILES && (
                <span className={styles.soft}>
                  and {pluralize(files.length - MAX_FILES, "more file")}: see the diff
                </span>
              )}
            </>
          )}
        </Fact>
      </Facts>
    </Section>
  );
}

export function gateText(passed: boolean | null): string {
  return passed === null ? "Running" : passed ? "Passed" : "Failed";
}
