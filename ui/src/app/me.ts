/* What this browser's login may do, and which server answers it. */

import { create } from "zustand";
import { api, told } from "../api/client";
import { useBoard } from "../store/board";

interface Standing {
  access: "all" | "look";
  /** Of the page that is open, and of the one that a reload would bring. */
  opened: string | null;
  served: string | null;
}

export const useMe = create<Standing>(() => ({ access: "all", opened: null, served: null }));

/** Asked at the start, and whenever the server may be another one. What fails is told by the link. */
export async function askMe(): Promise<void> {
  try {
    const { access, version, page } = await told(api.GET("/api/me"));
    const served = `${version} ${page ?? ""}`;
    useMe.setState(({ opened }) => ({ access, served, opened: opened ?? served }));
  } catch {
    return;
  }
}

export const MAY_LOOK = "You may look, and change nothing: this login is read-only.";
export const LOGGED_OUT = "You are logged out.";

/** A sentence: why nothing can be changed; `null` where it can. For `disabled` of whatever changes something. */
export function useMayNot(): string | null {
  const access = useMe((me) => me.access);
  const lost = useBoard((store) => store.link === "lost");
  return lost ? LOGGED_OUT : access === "look" ? MAY_LOOK : null;
}
