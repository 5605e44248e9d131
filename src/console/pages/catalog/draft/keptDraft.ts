/** The draft: changes to the catalog that are not applied yet, stored for this tab. */
import { Option, Schema } from "effect"
import { useState } from "react"
import { useSession } from "../../../gateway/hooks.tsx"
import type { Session } from "../../../gateway/session.ts"
import { type CatalogText, isSameDocument } from "./catalogEntries.ts"

/** A version of the catalog as it was read. */
export interface CatalogRead {
  readonly version: number
  readonly document: CatalogText
}

export interface Draft {
  /** The version on which the draft is based. */
  readonly base: CatalogRead
  readonly mine: CatalogText
  /**
   * A number that changes with every edit, so that previews of earlier drafts are not mixed up with
   * this one.
   */
  readonly revision: number
}

const PLACE = "media-gateway-catalog-draft"

/**
 * Checks only the outer form, because the documents were written here by the console itself. The
 * gateway refuses documents with missing fields.
 */
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

/** The draft in memory, which also contains the vendors' API keys. */
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
  // Vendors' API keys are not stored: they have to be typed again after a reload.
  const text = JSON.stringify(
    { operator: operator.name, base: draft.base, mine: draft.mine },
    (name, value: unknown) => (name === "api_key" ? undefined : value)
  )
  sessionStorage.setItem(PLACE, text)
}

/** The draft and a function that replaces it. A draft without differences is removed. */
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
