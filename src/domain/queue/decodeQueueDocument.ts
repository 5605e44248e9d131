/** Decodes the document of a vendor, and lists every fault of it by its path. */
import { Result, Schema } from "effect"
import { type FieldFault, issueFaults } from "../requestFields.ts"
import { QueueDocument } from "./QueueDocument.ts"
import { documentFaults } from "./queueFaults.ts"

const decodeShape = Schema.decodeUnknownResult(QueueDocument, {
  onExcessProperty: "error",
  errors: "all"
})

/** The document, or its faults: those of its shape, or else its contradictions. */
export const decodeQueueDocument = (
  value: unknown
): Result.Result<QueueDocument, ReadonlyArray<FieldFault>> =>
  Result.flatMap(
    Result.mapError(decodeShape(value), ({ issue }) => issueFaults(issue)),
    (document) => {
      const faults = documentFaults(document)
      return faults.length === 0 ? Result.succeed(document) : Result.fail(faults)
    }
  )
