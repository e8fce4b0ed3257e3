import { useEngine } from "../api/queries";
import type { BatchSummary, ClusterNode, EngineStatus } from "../api/types";
import { Popover } from "../components/Popover";
import { pluralize } from "../model/format";
import { isOpen } from "./batchStatus";
import styles from "./ClusterNodes.module.css";
import { countSlots, describeMemory, describeNode, orderNodes } from "./clusterNodes";

const NO_NODES: readonly ClusterNode[] = [];
const listNodes = (engine: EngineStatus | null) => engine?.nodes ?? NO_NODES;

/** The nodes of the cluster that an open batch runs on, with their slots. Nothing for a batch that runs on this machine. */
export function ClusterNodes({ batch }: { batch: BatchSummary }) {
  const remote = batch.settings.executor !== "local" && isOpen(batch);
  const { data: nodes = NO_NODES } = useEngine(remote, listNodes);
  if (!remote || nodes.length === 0) return null;
  const { alive, used, slots } = countSlots(nodes);
  const summary = `${pluralize(alive, "node")}, ${used} of ${slots} slots used`;
  return (
    <Popover name="Cluster" button={summary} kind="quiet">
      {() => (
        <div className={styles.box}>
          <table className={styles.nodes}>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">Slots used</th>
                <th scope="col">Status</th>
              </tr>
            </thead>
            <tbody>
              {orderNodes(nodes).map((node) => (
                <NodeRow key={`${node.name} ${node.address}`} node={node} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Popover>
  );
}

function NodeRow({ node }: { node: ClusterNode }) {
  return (
    <tr>
      <th scope="row">
        <bdi>{node.name}</bdi>
        {node.address !== "" && <span className={styles.muted}>{node.address}</span>}
      </th>
      <td className={styles.slots}>
        {node.used} of {node.slots}
      </td>
      <td data-problem={node.problem !== null || !node.alive}>
        {describeNode(node)}
        <span className={styles.muted}>{describeMemory(node)}</span>
      </td>
    </tr>
  );
}
