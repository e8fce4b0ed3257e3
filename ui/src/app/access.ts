/* What this login may do, and which server version the page talks to. */

import { create } from "zustand";
import { api, unwrap } from "../api/client";
import { useBoard } from "../store/board";

interface Access {
  access: "all" | "look";
  /** The versions of the open page, and of the page that a reload would load. */
  opened: string | null;
  served: string | null;
}

export const useAccess = create<Access>(() => ({ access: "all", opened: null, served: null }));

/** Fetched at the start and whenever the server may have changed. ConnectionStatus reports failures. */
export async function refreshAccess(): Promise<void> {
  try {
    const { access, version, page } = await unwrap(api.GET("/api/me"));
    const served = `${version} ${page ?? ""}`;
    useAccess.setState(({ opened }) => ({ access, served, opened: opened ?? served }));
  } catch {
    return;
  }
}

const READ_ONLY = "This login is read-only.";
const LOGGED_OUT = "You are logged out.";

/** Why this login can't change anything, for `disabled`; `null` if it can. */
export function useReadOnlyReason(): string | null {
  const access = useAccess((me) => me.access);
  const lost = useBoard((store) => store.connection === "lost");
  return lost ? LOGGED_OUT : access === "look" ? READ_ONLY : null;
}
