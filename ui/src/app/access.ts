/* What this browser's login may do, and which server answers it. */

import { create } from "zustand";
import { api, unwrap } from "../api/client";
import { useBoard } from "../store/board";

interface Access {
  access: "all" | "look";
  /** Of the page that is open, and of the one that a reload would bring. */
  opened: string | null;
  served: string | null;
}

export const useAccess = create<Access>(() => ({ access: "all", opened: null, served: null }));

/** Asked at the start, and whenever the server may be another one. What fails is told by the link. */
export async function refreshAccess(): Promise<void> {
  try {
    const { access, version, page } = await unwrap(api.GET("/api/me"));
    const served = `${version} ${page ?? ""}`;
    useAccess.setState(({ opened }) => ({ access, served, opened: opened ?? served }));
  } catch {
    return;
  }
}

const READ_ONLY = "You may look, and change nothing: this login is read-only.";
const LOGGED_OUT = "You are logged out.";

/** A sentence: why nothing can be changed; `null` where it can. For `disabled` of whatever changes something. */
export function useReadOnlyReason(): string | null {
  const access = useAccess((me) => me.access);
  const lost = useBoard((store) => store.connection === "lost");
  return lost ? LOGGED_OUT : access === "look" ? READ_ONLY : null;
}
