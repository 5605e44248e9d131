/** The relay's family e: vp_e's interface, unchanged but for the key's scheme. */
import { extras, pollPath, readPolled, readSubmitted, toSubmit } from "../vp_e.ts"
import type { Family } from "./Family.ts"

export const familyE: Family = { toSubmit, extras, readSubmitted, pollPath, readPolled }
