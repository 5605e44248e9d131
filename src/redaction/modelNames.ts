/**
 * Replaces a vendor's name of a model, which reveals the vendor, by the id of the model in the
 * catalog.
 */
import { RegExp as Patterns, Predicate } from "effect"
import { UpstreamError } from "../domain/Errors.ts"

/** Matches the name as a whole word, not as a part of another name. */
const nameIn = (name: string): RegExp =>
  new RegExp(`(?<![\\w-]|\\w\\.)${Patterns.escape(name)}(?![\\w-]|\\.\\w)`, "gi")

const renameIn = (value: unknown, rename: (text: string) => string): unknown => {
  if (typeof value === "string") return rename(value)
  if (Array.isArray(value)) return value.map((item) => renameIn(item, rename))
  return Predicate.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, item]) => [rename(key), renameIn(item, rename)])
      )
    : value
}

/** The id of a model in the catalog, and the vendor's name of it. */
export interface ModelNames {
  readonly model: string
  readonly upstreamModel: string
}

export const renameModel = ({ model, upstreamModel }: ModelNames, text: string): string =>
  text.replace(nameIn(upstreamModel), () => model)

/** Replaces the vendor's name of the model in an error. */
export const renameModelInError = (names: ModelNames, error: UpstreamError): UpstreamError => {
  if (names.model === names.upstreamModel) return error
  const rename = (text: string) => renameModel(names, text)
  const upstream = { ...error.upstream, body: renameIn(error.upstream.body, rename) }
  return new UpstreamError({ ...error, message: rename(error.message), upstream })
}
