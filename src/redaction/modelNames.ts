/** A vendor's name of a model says who the vendor is: in what clients read stands the name they ordered by. */
import { RegExp as Patterns, Predicate } from "effect"
import { UpstreamError } from "../domain/Errors.ts"

/** As a name of its own, not as a part of another one. */
const nameIn = (name: string): RegExp =>
  new RegExp(`(?<![\\w-]|\\w\\.)${Patterns.escape(name)}(?![\\w-]|\\.\\w)`, "gi")

const walk = (value: unknown, rename: (text: string) => string): unknown => {
  if (typeof value === "string") return rename(value)
  if (Array.isArray(value)) return value.map((item) => walk(item, rename))
  return Predicate.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, item]) => [rename(key), walk(item, rename)])
      )
    : value
}

/** The model as its client ordered it, and as it is called at the vendor. */
export interface ModelNames {
  readonly model: string
  readonly upstreamModel: string
}

export const renameModel = ({ model, upstreamModel }: ModelNames, text: string): string =>
  text.replace(nameIn(upstreamModel), () => model)

/** The same error with the client's name of the model. */
export const renameModelInError = (names: ModelNames, error: UpstreamError): UpstreamError => {
  if (names.model === names.upstreamModel) return error
  const rename = (text: string) => renameModel(names, text)
  const upstream = { ...error.upstream, body: walk(error.upstream.body, rename) }
  return new UpstreamError({ ...error, message: rename(error.message), upstream })
}
