/**
 * The draft as it is stored for the tab, so that a reload keeps it. Files are too large to be
 * stored.
 */
import { Option, Schema } from "effect"
import { useEffect, useState } from "react"
import { playgroundDraft } from "../../../gateway/session.ts"
import { Draft, emptyDraft } from "./draft.ts"

const Stored = Schema.Struct({ model: Schema.String, draft: Draft })
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Stored))

const readStored = () => Option.getOrNull(decode(playgroundDraft.read()))

/** The model of the stored draft; null if there is none. */
export const storedModel = (): string | null => readStored()?.model ?? null

export const useStoredDraft = (model: string, adapt: (draft: Draft) => Draft) => {
  const [draft, setDraft] = useState(() => adapt(readStored()?.draft ?? emptyDraft()))
  useEffect(() => {
    const media = draft.media.filter(({ file }) => file === null)
    playgroundDraft.write(JSON.stringify({ model, draft: { ...draft, media, recording: null } }))
  }, [model, draft])
  return [draft, setDraft] as const
}
