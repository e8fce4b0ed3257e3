import { Link } from "wouter";
import type { Explanation } from "../api/types";
import { to } from "../app/address";
import { count, short } from "../model/format";
import { Names } from "./About";
import styles from "./About.module.css";
import { Copied, Fact, Facts, Section } from "./Facts";

const SHOWN = 20; // files

/** What came of it, and where that is. */
export function Result({ explanation }: { explanation: Explanation }) {
  const { result, batchId } = explanation;
  if (result === null) return null;
  const { branch, tip, commit, worktreePath, files, gate, published, place, ref } = result;
  return (
    <Section title="Result">
      <Facts>
        <Fact name="Merged">
          {commit !== null && (
            <>
              <Copied text={commit} shown={short(commit)} what="the commit" />
              {place !== null && `as number ${place} of `}
              <Link href={to.review(batchId)}>its batch branch</Link>
            </>
          )}
        </Fact>
        <Fact name="Gate">{gate !== null && `${gateWord(gate.passed)} on ${short(gate.commit)}`}</Fact>
        <Fact name="Published">{published !== null && published}</Fact>
        <Fact name="Branch">{branch !== null && <Copied text={branch} what="the branch" />}</Fact>
        <Fact name="Tip">{tip !== null && <Copied text={tip} shown={short(tip)} what="the tip" />}</Fact>
        <Fact name="Kept as">{ref !== null && <Copied text={ref} what="the ref" />}</Fact>
        <Fact name="Worktree">{worktreePath !== null && <Copied text={worktreePath} what="the path" />}</Fact>
        <Fact name="Files">
          {files.length > 0 && (
            <>
              <Names names={files.slice(0, SHOWN)} />
              {files.length > SHOWN && (
                <span className={styles.soft}>
                  and {count(files.length - SHOWN, "more file")}: see the diff
                </span>
              )}
            </>
          )}
        </Fact>
      </Facts>
    </Section>
  );
}

export function gateWord(passed: boolean | null): string {
  return passed === null ? "Running" : passed ? "Passed" : "Failed";
}
