/* Icons on a 16 × 16 grid. An icon is never the only carrier of information. */

const PATHS = {
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3.5 8.5l3 3 6-7",
  chevron: "M6 4l4 4-4 4",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
  expandUp: "M8 11V3.5M4.5 7L8 3.5 11.5 7M3 13.5h10",
  expandDown: "M8 5v7.5M4.5 9L8 12.5 11.5 9M3 2.5h10",
  expandAll: "M8 1.5v4M5.5 4L8 1.5 10.5 4M8 14.5v-4M5.5 12L8 14.5 10.5 12M2.5 8h11",
  collapseAll: "M8 1.5v4M5.5 3L8 5.5 10.5 3M8 14.5v-4M5.5 13L8 10.5 10.5 13M2.5 8h11",
  search: "M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.5 10.5L14 14",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  play: "M5 3.5v9l7-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  stop: "M4 4h8v8H4z",
  retry: "M13 8a5 5 0 11-1.5-3.5M13 2.5V5h-2.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  board: "M3 3h3v10H3zM8 3h3v7H8zM13 3v5",
  graph: "M4 4.5h2v2H4zM10 2.5h2v2h-2zM10 10.5h2v2h-2zM6 5.5h2v-2h2M8 5.5v6h2",
  timeline: "M2.5 4h6M5 8h7M3.5 12h4",
  review: "M3 3h10v7H8l-3 3v-3H3z",
  settings: "M3 5h6M12 5h1M3 11h1M7 11h6M9 3.5v3M4 9.5v3",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  edit: "M3 13l.5-2.5L11 3l2 2-7.5 7.5z",
  wide: "M9.5 3H13v3.5M13 3L9 7M6.5 13H3V9.5M3 13l4-4",
  branch: "M5 3.5v9M5 12.5h.01M11 4.5h.01M11 5c0 3-6 2-6 5",
  menu: "M3 4.5h10M3 8h10M3 11.5h10",
  bell: "M4 11V7.5a4 4 0 018 0V11l1 1H3zM7 13.5h2",
  sun: "M8 5.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13 9.5A5.5 5.5 0 016.5 3a5.5 5.5 0 106.5 6.5z",
  help: "M6 6a2 2 0 113 1.7c-.7.4-1 .8-1 1.6M8 12h.01",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 013.5 3.5L10.5 8.5M9 11l-1.5 1.5a2.5 2.5 0 01-3.5-3.5L5.5 7.5",
  warning: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.300h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
