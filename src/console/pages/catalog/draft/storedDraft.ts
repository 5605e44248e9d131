/** The draft: changes to the catalog that are not applied yet, stored for this tab. */
import { Option, Schema } from "effect"
import { useState } from "react"
import { useSession } from "../../../gateway/hooks.tsx"
import type { Session } from "../../../gateway/session.ts"
import { type CatalogText, isSameDocument } from "./catalogEntries.ts"

/** A version of the catalog as it was read. */
export interface CatalogVersion {
  readonly version: number
  readonly document: CatalogText
}

export interface Draft {
  /** The version on which the draft is based. */
  readonly base: CatalogVersion
  readonly document: CatalogText
  /**
   * A number that changes with every edit, so that previews of earlier drafts are not mixed up with
   * this one.
   */
  readonly revision: number
}

const STORAGE_KEY = "media-gateway-catalog-draft"

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
const StoredDraft = Schema.fromJsonString(
  Schema.Struct({
    operator: Schema.String,
    base: Schema.Struct({ version: Schema.Int, document: Document }),
    mine: Document
  })
)
const decode = Schema.decodeUnknownOption(StoredDraft)

/** The draft in memory, which also contains the vendors' API keys. */
let memory: { readonly token: string; readonly draft: Draft | null } | null = null
let revisions = 0
export const nextRevision = (): number => ++revisions

const readStored = (operator: NonNullable<Session["operator"]>): Draft | null => {
  const stored = Option.getOrNull(decode(sessionStorage.getItem(STORAGE_KEY)))
  if (stored === null || stored.operator !== operator.name) return null
  return { base: stored.base, document: stored.mine, revision: nextRevision() }
}

const storeDraft = (operator: NonNullable<Session["operator"]>, draft: Draft | null): void => {
  memory = { token: operator.token, draft }
  if (draft === null) {
    sessionStorage.removeItem(STORAGE_KEY)
    return
  }
  // Vendors' API keys are not stored: they have to be typed again after a reload.
  const text = JSON.stringify(
    { operator: operator.name, base: draft.base, mine: draft.document },
    (name, value: unknown) => (name === "api_key" ? undefined : value)
  )
  sessionStorage.setItem(STORAGE_KEY, text)
}

/** The draft and a function that replaces it. A draft without differences is removed. */
export const useDraft = () => {
  const { session } = useSession()
  const { operator } = session
  const [draft, setState] = useState<Draft | null>(() => {
    if (operator === null) return null
    if (memory?.token !== operator.token)
      memory = { token: operator.token, draft: readStored(operator) }
    return memory.draft
  })
  const setDraft = (base: CatalogVersion, document: CatalogText): void => {
    if (operator === null) return
    const nextDraft = isSameDocument(base.document, document)
      ? null
      : { base, document, revision: nextRevision() }
    storeDraft(operator, nextDraft)
    setState(nextDraft)
  }
  return { draft, setDraft }
}
