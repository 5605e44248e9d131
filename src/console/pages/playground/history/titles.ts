/**
 * The first words of the prompts of this tab's orders, stored for the tab alone: the gateway stores
 * no prompts.
 */
import { Option, Schema } from "effect"
import { playgroundTitles } from "../../../gateway/session.ts"
import type { Draft } from "../form/draft.ts"

const MAX_TITLES = 50
const MAX_LENGTH = 120

const Titles = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const decode = Schema.decodeUnknownOption(Titles)

export const readTitles = (): Readonly<Record<string, string>> =>
  Option.getOrElse(decode(playgroundTitles.read()), () => ({}))

export const titleOf = ({ prompt }: Draft): string => prompt.trim().slice(0, MAX_LENGTH)

export const storeTitle = (id: string, title: string): void => {
  if (title === "") return
  const titles = Object.entries(readTitles()).slice(1 - MAX_TITLES)
  playgroundTitles.write(JSON.stringify(Object.fromEntries([...titles, [id, title]])))
}
