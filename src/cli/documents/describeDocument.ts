/** What a vendor's document describes, as a summary for its author. */
import type { VendorParameter, VendorParameters } from "../../domain/catalog/vendorParameters.ts"
import type {
  QueueCall,
  QueueDocument,
  QueueImageModel,
  QueueModel,
  QueueVideoModel
} from "../../domain/queue/QueueDocument.ts"
import { formsOf, referencesOf } from "../../domain/queue/queueBody.ts"
import { parametersOfModel } from "../../domain/queue/queueParameters.ts"
import { describeInputs } from "../../domain/video/families/VideoFamily.ts"
import { hasOneOf, secondsOfLimit } from "../../domain/video/videoLimits.ts"
import { facts } from "../output.ts"
import type { PlannedRequest } from "./orderRequest.ts"

/** A model of a document, with every field that an order of it may have. */
interface ModelSummary {
  readonly id: string
  readonly modality: QueueModel["modality"]
  /** What can be ordered, by the names of the gateway's fields. */
  readonly order: Readonly<Record<string, string>>
  /** The vendor's own fields. */
  readonly parameters: VendorParameters
}

export interface DocumentSummary {
  readonly id: string
  readonly key: string
  readonly calls: Readonly<Record<"submit" | "status" | "result" | "cancel", string | null>>
  /** Which jobs can be cancelled; null if none can. */
  readonly cancels: string | null
  readonly models: ReadonlyArray<ModelSummary>
}

const describeSeconds = ({ seconds, smart = false }: QueueVideoModel): string => {
  const lengths = hasOneOf(seconds) ? secondsOfLimit(seconds).join(", ") : seconds.join(" to ")
  return smart ? `${lengths}, or -1` : lengths
}

const videoOrder = (model: QueueVideoModel): Readonly<Record<string, string>> => {
  const { resolutions = [], ratios, sound = "unset", fields } = model
  const hasRatio = (fields.ratio ?? fields.size) !== undefined
  return {
    inputs: describeInputs({ forms: formsOf(model) }),
    duration: describeSeconds(model),
    ...(resolutions.length === 0 ? {} : { resolution: resolutions.join(", ") }),
    ...(hasRatio ? { ratio: ratios === undefined ? "any" : ratios.join(", ") } : {}),
    generate_audio: sound === "switch" ? "true or false" : sound
  }
}

const imageOrder = (model: QueueImageModel): Readonly<Record<string, string>> => {
  const { least, most } = referencesOf(model)
  const { fields, max_images } = model
  return {
    ...(most === 0 ? {} : { image: least === most ? String(most) : `${least} to ${most}` }),
    n: max_images === undefined ? "as many requests" : `up to ${max_images}`,
    ...(fields.size === undefined ? {} : { size: "as the document maps it" }),
    ...(fields.mask === undefined ? {} : { mask: "one" })
  }
}

const summaryOfModel = (document: QueueDocument, model: QueueModel): ModelSummary => ({
  id: model.id,
  modality: model.modality,
  order: model.modality === "video" ? videoOrder(model) : imageOrder(model),
  parameters: parametersOfModel(model, document)
})

const describeCall = ({ method, path }: Pick<QueueCall, "method" | "path">): string =>
  `${method} ${path}`

export const summaryOf = (document: QueueDocument): DocumentSummary => {
  const { id, key, calls, models } = document
  const { submit, status, result, cancel } = calls
  return {
    id,
    key: `${key.header}: ${key.scheme === undefined ? "" : `${key.scheme} `}<key>`,
    calls: {
      submit: describeCall(submit),
      status: describeCall(status),
      result: result === undefined ? null : describeCall(result),
      cancel: cancel === undefined ? null : describeCall(cancel)
    },
    cancels: cancel?.jobs ?? null,
    models: models.map((model) => summaryOfModel(document, model))
  }
}

const boundsOf = (parameter: VendorParameter): string => {
  switch (parameter.type) {
    case "boolean":
      return "true or false"
    case "integer":
      return parameter.values?.join(", ") ?? `${parameter.minimum} to ${parameter.maximum}`
    case "number":
      return `${parameter.minimum} to ${parameter.maximum}`
    case "text":
      return parameter.max_length === undefined ? "text" : `text of ${parameter.max_length}`
    case "choice":
      return parameter.values.join(", ")
    case "list":
      return `list of ${parameter.values?.join(", ") ?? "texts"}`
  }
}

const describeParameter = (parameter: VendorParameter): string => {
  const { required, default: usual } = parameter
  const marks = [
    ...(required === true ? ["required"] : []),
    ...(usual === undefined ? [] : [`default ${[usual].flat().join(", ")}`])
  ]
  return [boundsOf(parameter), ...marks].join("; ")
}

const describeModel = ({ id, modality, order, parameters }: ModelSummary): string => {
  const own = Object.entries(parameters).map(
    ([name, parameter]) => [`  ${name}`, describeParameter(parameter)] as const
  )
  const fields = Object.entries(order).map(([name, value]) => [`  ${name}`, value] as const)
  return `${id} (${modality})\n${facts([...fields, ...own])}`
}

/** The summary as text. */
export const describeDocument = ({ id, key, calls, cancels, models }: DocumentSummary): string =>
  [
    `The document of ${id} has no fault.`,
    facts([
      ["key", key],
      ["submit", calls.submit],
      ["status", calls.status],
      ["result", calls.result ?? "in the answer to status"],
      ["cancel", calls.cancel === null ? "no" : `${calls.cancel} (${cancels})`]
    ]),
    ...models.map(describeModel)
  ].join("\n\n")

/** A request as it would stand on the wire, with its body indented. */
export const describeRequest = ({ method, url, headers, body, times }: PlannedRequest): string =>
  [
    times === 1
      ? "The vendor would be sent:"
      : `The vendor would be sent ${times} times, once for each image:`,
    "",
    `${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === null ? [] : ["", JSON.stringify(body, null, 2)])
  ].join("\n")
