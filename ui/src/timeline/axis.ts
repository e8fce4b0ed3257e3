/* The time axis: ticks, and where an open timeline ends. Pure; the time zone is passed in. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28].map((n) => n * DAY),
];
const MIN_TICK_GAP = 84; // px between two ticks at least
const MIN_LENGTH = 30 * SECOND;
const LENGTH_FACTOR = 1.5;

/** The offset of local time from UTC at an instant, in milliseconds. */
export type Zone = (at: number) => number;

export const localZone: Zone = (at) => -new Date(at).getTimezoneOffset() * MINUTE;

interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Round local times within [from, to], for an axis of this width. */
export function ticks(from: number, to: number, width: number, zone: Zone): Tick[] {
  if (!(to > from) || width <= 0) return [];
  const least = ((to - from) * MIN_TICK_GAP) / width;
  const step = STEPS.find((each) => each >= least) ?? Math.ceil(least / DAY) * DAY;
  const found: Tick[] = [];
  let day = "";
  for (let wall = Math.ceil((from + zone(from)) / step) * step; ; wall += step) {
    const at = wallToUtc(wall, zone);
    if (at > to) return found;
    if (at < from || at <= (found.at(-1)?.at ?? Number.NEGATIVE_INFINITY)) continue; // daylight saving: an hour that is skipped or repeated
    const date = formatWall(wall, DATE);
    const time = formatWall(wall, step < MINUTE ? SECONDS : MINUTES);
    const fresh = day !== "" && date !== day;
    day = date;
    found.push({ at, label: step >= DAY ? date : fresh ? `${date}, ${time}` : time });
  }
}

function wallToUtc(wall: number, zone: Zone): number {
  const guess = wall - zone(wall);
  return wall - zone(guess);
}

type DateFormat = Intl.DateTimeFormatOptions;
const DATE: DateFormat = { day: "numeric", month: "short" };
const MINUTES: DateFormat = { hour: "2-digit", minute: "2-digit" };
const SECONDS: DateFormat = { ...MINUTES, second: "2-digit" };
const formats = new Map<DateFormat, Intl.DateTimeFormat>(); // creating one is slow

function formatWall(wall: number, format: DateFormat): string {
  const formatter =
    formats.get(format) ??
    new Intl.DateTimeFormat(undefined, { ...format, hourCycle: "h23", timeZone: "UTC" });
  formats.set(format, formatter);
  return formatter.format(wall);
}

/** `14:03:22`, with the day if it differs from that of `beside`. */
export function formatInstant(at: number, zone: Zone, beside = at): string {
  const day = (when: number) => formatWall(when + zone(when), DATE);
  const time = formatWall(at + zone(at), SECONDS);
  return day(at) === day(beside) ? time : `${day(at)}, ${time}`;
}

/** The end of an open timeline. It grows in steps, so that bars don't move all the time. */
export function openEnd(from: number, to: number): number {
  let length = MIN_LENGTH;
  while (length < (to - from) * 1.04) length *= LENGTH_FACTOR;
  return from + length;
}
