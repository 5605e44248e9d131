/**
 * Checks the vendor fields of an order: whether the model has them, and whether their values are
 * valid.
 */
import { Result } from "effect"
import type { Model, Mount } from "../catalog/CatalogDocument.ts"
import { mountProtocol } from "../catalog/CatalogRules.ts"
import {
  parameterFaults,
  parametersTogether,
  type VendorParameters,
  type VendorValues
} from "../catalog/vendorParameters.ts"
import { InvalidRequest } from "../Errors.ts"
import { type FieldFault, MAX_FIELD_FAULTS } from "../requestFields.ts"
import { familyOf } from "./families/VideoFamily.ts"
import { flagOf, isParameterFlag } from "./flagTable.ts"
import { holdsFlags } from "./PromptFlags.ts"
import { unknownVideoFields, type VideoBody, videoFieldNames } from "./VideoBody.ts"
import type { VideoInput } from "./VideoInput.ts"
import { familiesOf, type RelayFamily, type VideoProtocolRow } from "./VideoProtocol.ts"
import {
  blockParameters,
  cloudParameters,
  noParameters,
  tierParameters,
  type VideoParameters
} from "./videoParameters.ts"

type Rows = ReadonlyMap<string, VideoProtocolRow>

/** The fields that a relay forwards to the vendors of each family. */
export const relayedParameters: Readonly<Record<RelayFamily, VideoParameters>> = {
  a: blockParameters,
  d: noParameters,
  e: tierParameters,
  f: cloudParameters
}

/**
 * The vendor fields that an order may have, by the protocol that calls the model and the protocol
 * under which the model is listed.
 */
export const parametersOf = (
  row: VideoProtocolRow,
  listed: VideoProtocolRow | undefined,
  upstreamModel: string
): VendorParameters => {
  const family = listed?.relayFamily ?? null
  const { parameters, modelsWith = {} }: VideoParameters =
    row.relays && family !== null ? relayedParameters[family] : row
  const knownFamily = familyOf(familiesOf(row, listed), upstreamModel)
  if (knownFamily?.ownParameters !== undefined) return knownFamily.ownParameters
  const isSupported = (name: string): boolean =>
    knownFamily === null
      ? (modelsWith[name]?.test(upstreamModel) ?? true)
      : knownFamily.parameters.includes(name)
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => isSupported(name)))
}

/** Every field that a protocol has for any model. */
const allOf = ({ relays, parameters }: VideoProtocolRow): VendorParameters =>
  parametersTogether([
    parameters,
    ...(relays ? Object.values(relayedParameters).map((family) => family.parameters) : [])
  ])

/** The union of the fields of all protocols. */
export const parametersAnywhere = (rows: Rows): VendorParameters =>
  parametersTogether([...rows.values()].map(allOf))

/** The union of the fields of a model's mounts, or those of its own protocol if it has no mount. */
export const offeredParameters = (
  rows: Rows,
  model: Model,
  mounts: ReadonlyArray<Mount>
): VendorParameters => {
  const calls =
    mounts.length === 0
      ? [[model.protocol, model.id] as const]
      : mounts.map(
          (mount) => [mountProtocol(model, mount), mount.upstream_model ?? model.id] as const
        )
  return parametersTogether(
    calls.flatMap(([protocol, upstreamModel]) => {
      const row = rows.get(protocol)
      return row === undefined ? [] : [parametersOf(row, rows.get(model.protocol), upstreamModel)]
    })
  )
}

const protocolsWith = (rows: Rows, field: string): string => {
  const names = [...rows]
    .filter(([, row]) => Object.hasOwn(allOf(row), field))
    .map(([name]) => name)
  return names.length === 1 ? `${names[0]} has one` : `${names.join(", ")} have one`
}

/** The message is the first fault, followed by the sentence. */
const failWith = (faults: ReadonlyArray<FieldFault>, sentence?: string) => {
  const [first = { path: "", message: "" }] = faults
  const period = first.message.endsWith("?") ? "" : "."
  const hint = sentence === undefined ? "" : `${period} ${sentence}`
  const message = `${first.path}: ${first.message}${hint}`
  return Result.fail(new InvalidRequest({ message, param: first.path, faults }))
}

/**
 * Refuses fields that no mount of the model has, because they would have no effect: `faults` names
 * each of them, and the message lists the accepted fields. The model is null if it is not known.
 */
export const checkFields = (
  body: VideoBody,
  flagged: ReadonlyArray<string>,
  offered: VendorParameters,
  { model, rows }: { readonly model: string | null; readonly rows: Rows }
): Result.Result<void, InvalidRequest> => {
  const unknownFieldFaults = unknownVideoFields(body, offered)
  const flagsWithoutField = flagged.filter((name) => !Object.hasOwn(offered, name))
  if (unknownFieldFaults.length === 0 && flagsWithoutField.length === 0) return Result.void
  const otherModelsFields = parametersAnywhere(rows)
  const fields = new Map(Object.entries(body))
  const faults = [
    ...unknownFieldFaults
      // A null value of a field that other models have is accepted.
      .filter(({ path }) => fields.get(path) !== null || !Object.hasOwn(otherModelsFields, path))
      .map(({ path, message }) =>
        Object.hasOwn(otherModelsFields, path)
          ? { path, message: `This model has no such field; ${protocolsWith(rows, path)}` }
          : { path, message }
      ),
    ...flagsWithoutField.filter(isParameterFlag).map((name) => ({
      path: "prompt",
      message: `The flag ${flagOf(name)} in the text is not taken: this model has no field for it; ${protocolsWith(rows, name)}`
    }))
  ].slice(0, MAX_FIELD_FAULTS)
  if (faults.length === 0) return Result.void
  const ofModel = model === null ? "" : ` of ${JSON.stringify(model)}`
  const ownFields = Object.keys(offered)
  const andOwnFields =
    ownFields.length === 0 ? "" : `, and of the vendor's own ${ownFields.join(", ")}`
  return failWith(
    faults,
    `Video orders${ofModel} take ${videoFieldNames.join(", ")}${andOwnFields}`
  )
}

/** Faults for the fields of an order that a protocol does not have. */
const lackedFaults = (
  { parameters, flagged }: Pick<VideoInput, "parameters" | "flagged">,
  table: VendorParameters,
  protocol: string
): ReadonlyArray<FieldFault> =>
  Object.keys(parameters)
    .filter((name) => !Object.hasOwn(table, name))
    .map((name) => ({
      path: flagged.includes(name) ? "prompt" : name,
      message: `${protocol}, which calls this model, has no field for ${name} beside the others`
    }))

const textsOf = (value: unknown): ReadonlyArray<string> =>
  [value].flat().filter((text) => typeof text === "string")

/**
 * Faults for flags in field values: a vendor may read flags in any text, and the hold would not
 * cover them.
 */
const flagFaults = (values: VendorValues): ReadonlyArray<FieldFault> =>
  Object.entries(values)
    .filter(([, value]) => textsOf(value).some(holdsFlags))
    .map(([path]) => ({ path, message: "Expected a text without flags such as --duration" }))

const isValue = (entry: readonly [string, unknown]): entry is [string, VendorValues[string]] =>
  ["boolean", "number", "string"].includes(typeof entry[1]) || Array.isArray(entry[1])

/**
 * Reads the values of the vendor fields for one protocol. Fails if the protocol lacks one of the
 * fields or does not accept its value.
 */
export const readParameters = (
  input: Pick<VideoInput, "parameters" | "flagged">,
  table: VendorParameters,
  protocol: string
): Result.Result<VendorValues, InvalidRequest> => {
  const unsupportedFields = lackedFaults(input, table, protocol)
  if (unsupportedFields.length > 0) return failWith(unsupportedFields)
  const faults = parameterFaults(input.parameters, table).map(({ path, message }) =>
    input.flagged.includes(path) && isParameterFlag(path)
      ? { path: "prompt", message: `${message} behind ${flagOf(path)}` }
      : { path, message }
  )
  if (faults.length > 0) return failWith(faults)
  const values = Object.fromEntries(Object.entries(input.parameters).filter(isValue))
  const flags = flagFaults(values)
  return flags.length > 0 ? failWith(flags) : Result.succeed(values)
}

/** Whether a protocol has all vendor fields of an order, whatever their values. */
export const hasFields = (
  { parameters }: Pick<VideoInput, "parameters">,
  table: VendorParameters
): boolean => Object.keys(parameters).every((name) => Object.hasOwn(table, name))
