/**
 * The words by which a member recognises an order. The gateway stores no prompts, so the first words
 * of the prompts of this tab's orders are stored for the tab alone.
 */
import { Option, Schema } from "effect"
import { playgroundTitles } from "../gateway/session.ts"

const MAX_TITLES = 50
const MAX_LENGTH = 120

const Titles = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const decode = Schema.decodeUnknownOption(Titles)

const readTitles = (): Readonly<Record<string, string>> =>
  Option.getOrElse(decode(playgroundTitles.read()), () => ({}))

export const storeTitle = (id: string, prompt: string): void => {
  const title = prompt.trim().slice(0, MAX_LENGTH)
  if (title === "") return
  const titles = Object.entries(readTitles()).slice(1 - MAX_TITLES)
  playgroundTitles.write(JSON.stringify(Object.fromEntries([...titles, [id, title]])))
}

interface Order {
  readonly id: string
  readonly metadata: Readonly<Record<string, string>> | null
}

/** The first words of its prompt, or else the values of its metadata; empty without both. */
export const useOrderTitle = (): ((order: Order) => string) => {
  const titles = readTitles()
  return ({ id, metadata }) => titles[id] ?? Object.values(metadata ?? {}).join(" · ")
}
