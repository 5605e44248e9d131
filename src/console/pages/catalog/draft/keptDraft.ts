/** Changes to the catalog that are not applied yet, kept for the tab. */
import { Option, Schema } from "effect"
import { useState } from "react"
import { useSession } from "../../../gateway/hooks.tsx"
import type { Session } from "../../../gateway/session.ts"
import { type CatalogText, isSameDocument } from "./catalogEntries.ts"

/** A catalog as it was read. */
export interface CatalogRead {
  readonly version: number
  readonly document: CatalogText
}

export interface Draft {
  /** What it was made on. */
  readonly base: CatalogRead
  readonly mine: CatalogText
  /** Another one after each change, by which a preview is told from that of an earlier draft. */
  readonly revision: number
}

const PLACE = "media-gateway-catalog-draft"

/** Documents are what this page wrote there itself; what they lack the gateway refuses. */
const Document = Schema.declare(
  (value: unknown): value is CatalogText =>
    typeof value === "object" &&
    value !== null &&
    "channels" in value &&
    Array.isArray(value.channels) &&
    "models" in value &&
    Array.isArray(value.models) &&
    "mounts" in value &&
    Array.isArray(value.mounts)
)
const Kept = Schema.fromJsonString(
  Schema.Struct({
    operator: Schema.String,
    base: Schema.Struct({ version: Schema.Int, document: Document }),
    mine: Document
  })
)
const decode = Schema.decodeUnknownOption(Kept)

/** The draft of this load of the page, which has the vendors' keys as well. */
let held: { readonly token: string; readonly draft: Draft | null } | null = null
let revisions = 0

const restored = (operator: NonNullable<Session["operator"]>): Draft | null => {
  const kept = Option.getOrNull(decode(sessionStorage.getItem(PLACE)))
  if (kept === null || kept.operator !== operator.name) return null
  return { base: kept.base, mine: kept.mine, revision: ++revisions }
}

const keep = (operator: NonNullable<Session["operator"]>, draft: Draft | null): void => {
  held = { token: operator.token, draft }
  if (draft === null) {
    sessionStorage.removeItem(PLACE)
    return
  }
  // Keys of vendors are typed again after the page was loaded again.
  const text = JSON.stringify(
    { operator: operator.name, base: draft.base, mine: draft.mine },
    (name, value: unknown) => (name === "api_key" ? undefined : value)
  )
  sessionStorage.setItem(PLACE, text)
}

/** The draft, and what replaces it; without a difference there is none. */
export const useDraft = () => {
  const { session } = useSession()
  const { operator } = session
  const [draft, hold] = useState<Draft | null>(() => {
    if (operator === null) return null
    if (held?.token !== operator.token) held = { token: operator.token, draft: restored(operator) }
    return held.draft
  })
  const setDraft = (base: CatalogRead, mine: CatalogText): void => {
    if (operator === null) return
    const next = isSameDocument(base.document, mine) ? null : { base, mine, revision: ++revisions }
    keep(operator, next)
    hold(next)
  }
  return { draft, setDraft }
}
