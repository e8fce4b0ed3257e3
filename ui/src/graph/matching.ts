/** The ids of the tasks that have all of these words in their id or title, in the order given. Pure. */
export function findTasks(nodes: readonly { taskId: string; title: string }[], text: string): string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return nodes
    .filter(({ taskId, title }) => {
      const searchText = `${taskId} ${title}`.toLowerCase();
      return words.every((word) => searchText.includes(word));
    })
    .map(({ taskId }) => taskId);
}
