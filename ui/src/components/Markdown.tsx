/* Markdown of tasks. HTML is shown as text, nothing is loaded from elsewhere, and links open in a new tab.

   Large: import it lazily. */

import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { spellOutBidi } from "../model/format";
import styles from "./Markdown.module.css";

const PLUGINS = [remarkGfm, () => nestHeadings];

interface TextNode {
  type: string;
  depth?: number;
  data?: { hProperties?: Record<string, unknown> };
  children?: TextNode[];
}

/** Each heading is at most one level below the one before it, as assistive technology expects, and looks as it was written. */
function nestHeadings(tree: TextNode): void {
  let before = 0;
  const visit = (node: TextNode) => {
    if (node.type === "heading" && node.depth !== undefined) {
      node.data = { ...node.data, hProperties: { "data-level": node.depth } };
      before = node.depth = Math.min(node.depth, before + 1);
    }
    node.children?.forEach(visit);
  };
  visit(tree);
}

/** Headings of the text are below those of the page. */
const COMPONENTS: Components = {
  h1: ({ node: _, ...rest }) => <h3 {...rest} />,
  h2: ({ node: _, ...rest }) => <h4 {...rest} />,
  h3: ({ node: _, ...rest }) => <h5 {...rest} />,
  h4: ({ node: _, ...rest }) => <h6 {...rest} />,
  h5: ({ children }) => <h6>{children}</h6>,
  h6: ({ children }) => <h6>{children}</h6>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <span className={styles.image}>
      {alt || "image"} ({String(src ?? "no address")})
    </span>
  ),
  input: ({ checked }) => <span className={styles.box}>{checked ? "[x]" : "[ ]"}</span>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
    <div className={styles.wide} tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

export default function Markdown({ text }: { text: string }) {
  return (
    <div className={styles.text} dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {spellOutBidi(text)}
      </ReactMarkdown>
    </div>
  );
}
