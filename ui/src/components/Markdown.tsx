/* Markdown of tasks. HTML is shown as text, nothing is loaded from elsewhere, and links open in a new tab.

   Large: import it lazily. */

import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import styles from "./Markdown.module.css";

const PLUGINS = [remarkGfm];

/** Headings of the text are below those of the page. */
const COMPONENTS: Components = {
  h1: ({ children }) => <h3 data-level="1">{children}</h3>,
  h2: ({ children }) => <h4 data-level="2">{children}</h4>,
  h3: ({ children }) => <h5 data-level="3">{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
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
    <div className={styles.wide}>
      <table>{children}</table>
    </div>
  ),
};

export default function Markdown({ text }: { text: string }) {
  return (
    <div className={styles.text} dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
