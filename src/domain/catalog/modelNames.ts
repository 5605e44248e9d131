/** The names of a model: clients order it by its id or by one of its aliases. */
import { ModelNotFound } from "../Errors.ts"
import { nearestName } from "../nearest.ts"
import type { Model } from "./CatalogDocument.ts"

type NamedModel = Pick<Model, "id" | "aliases">

export const namesOf = ({ id, aliases = [] }: NamedModel): ReadonlyArray<string> => [id, ...aliases]

/**
 * Whether an allow-list of a key has the model; null allows every model. The list is resolved by
 * the catalog in force: where it names an alias, it follows the alias to another model.
 */
export const isAllowed = (allowed: ReadonlySet<string> | null, model: NamedModel): boolean =>
  allowed === null || namesOf(model).some((name) => allowed.has(name))

/** The maximum number of characters of a model's name that an error message quotes. */
const MAX_NAME = 200

export const quotedName = (name: string): string =>
  JSON.stringify(name.slice(0, MAX_NAME).toWellFormed())

function* allNames(models: Iterable<NamedModel>): Generator<string> {
  for (const model of models) yield* namesOf(model)
}

/**
 * The error for a name that no model has. It suggests the name with the most similar spelling among
 * those of `models`, which are the ones that the key may order.
 */
export const unknownModel = (name: string, models: Iterable<NamedModel>): ModelNotFound => {
  const near = nearestName(name, allNames(models))
  const question = near === null ? ";" : `, did you mean ${JSON.stringify(near)}?`
  return new ModelNotFound({
    message: `No model is called ${quotedName(name)}${question} GET /v1/models lists those this key may order`,
    param: "model"
  })
}
