/**
 * Finds the organisation's files to which an order refers, before the hold is taken, and sends them
 * to the vendor.
 */
import { Array as Arr, Effect, type Scope, Stream } from "effect"
import { InvalidRequest, Overloaded } from "../domain/Errors.ts"
import type { FileAddresses } from "../domain/files/fileReferences.ts"
import { type MediaKind, mediaKindOf } from "../domain/files/mediaTypes.ts"
import type { FileReference } from "../domain/mediaUrls.ts"
import { type FieldFault, MAX_FIELD_FAULTS, withoutFaults } from "../domain/requestFields.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import { Settings } from "../runtime/Settings.ts"
import type { Caller } from "../services/Access.ts"
import { Files, type MediaFile } from "../services/files/Files.ts"
import { makeFileBytes } from "../services/files/fileBytes.ts"
import { BucketFault } from "../services/results/ArchiveBucket.ts"
import { StoredContentMemory } from "./StoredContentMemory.ts"

/** The files of an order by their ids. */
export type OrderedFiles = ReadonlyMap<string, MediaFile>

interface OrderFiles {
  readonly files: OrderedFiles
  /** Whether the files are sent as data URLs alone; false if missing. */
  readonly needsBytes?: boolean
}

export const noFiles: OrderedFiles = new Map()
export const noAddresses: FileAddresses = new Map()

const mediaLabels: Record<MediaKind, string> = {
  image: "a picture",
  audio: "a sound",
  video: "a film"
}

/**
 * The fault of a reference to a file. An unknown file and another organisation's file have the same
 * fault.
 */
const faultOf = ({ path, kind, id }: FileReference, file: MediaFile | undefined) => {
  if (file === undefined) {
    return { path, message: `No file is called ${JSON.stringify(id)}; it may have expired` }
  }
  return mediaKindOf(file.contentType) === kind
    ? null
    : {
        path,
        message: `Expected ${mediaLabels[kind]}, and the file is of type ${file.contentType}`
      }
}

/**
 * Whether the vendor loads the file from the bucket by a presigned URL, as clients do. Other files
 * are sent as data URLs within the order.
 */
const isSentAsUrl = (settings: Settings, { isInBucket }: MediaFile): boolean =>
  settings.archiveRedirect && isInBucket

/** Finds the files to which an order refers, without reading their content. */
export const makeFindFiles = Effect.gen(function* () {
  const files = yield* Files
  const settings = yield* Settings
  const { maxMediaBodyBytes } = settings

  const find = Effect.fnUntraced(function* (
    { organizationId }: Caller,
    references: Arr.NonEmptyReadonlyArray<FileReference>
  ): Effect.fn.Return<OrderedFiles, InvalidRequest | Overloaded> {
    const ids = [...new Set(references.map(({ id }) => id))]
    const stored = yield* failAsOverloaded(files.find(organizationId, ids))
    const byId = new Map(stored.map((file) => [file.id, file]))
    const faults = references
      .map((reference) => faultOf(reference, byId.get(reference.id)))
      .filter((fault): fault is FieldFault => fault !== null)
    yield* Effect.fromResult(withoutFaults(faults.slice(0, MAX_FIELD_FAULTS)))
    const inlineBytes = references
      .flatMap(({ id }) => byId.get(id) ?? [])
      .filter((file) => !isSentAsUrl(settings, file))
      .reduce((sum, { bytes }) => sum + bytes, 0)
    if (inlineBytes <= maxMediaBodyBytes) return byId
    const [{ path }] = references
    return yield* new InvalidRequest({
      message: `${path}: Expected files of at most ${maxMediaBodyBytes} bytes together, as they are sent to the vendor within the order`,
      param: path
    })
  })

  return (caller: Caller, references: ReadonlyArray<FileReference>) =>
    Arr.isReadonlyArrayNonEmpty(references) ? find(caller, references) : Effect.succeed(noFiles)
})

/**
 * The maximum lifetime of a presigned URL of a bucket. No order waits longer in a vendor's queue.
 */
const MAX_URL_SECONDS = 7 * 24 * 3600

/** The lifetime of the addresses from which vendors load an order's files. */
export const urlSecondsOf = ({ taskDeadlineSeconds }: Pick<Settings, "taskDeadlineSeconds">) =>
  Math.min(MAX_URL_SECONDS, Math.ceil(taskDeadlineSeconds))

/** The time-out for reading all files of an order together, before the hold is taken. */
const READ_TIMEOUT = "1 minute"
const budgetExhausted = new Overloaded({
  message:
    "Other orders' files take all the room there is for them; send this one again in a moment",
  retryAfterSeconds: 1
})
const unreadable = new Overloaded({
  message: "The order's files cannot be read at the moment; send it again",
  retryAfterSeconds: 2
})

/**
 * Makes the URLs by which a vendor gets files: a presigned URL that is valid until the deadline of
 * a task, or a data URL within the order. The memory of data URLs is reserved until the scope
 * closes.
 */
export const makeFileAddresses = Effect.gen(function* () {
  const bytes = yield* makeFileBytes
  const settings = yield* Settings
  const memory = yield* StoredContentMemory
  const urlSeconds = urlSecondsOf(settings)

  /**
   * Converts the file to a data URL, chunk by chunk, so that the event loop is never blocked for
   * long.
   */
  const dataUrl = Effect.fnUntraced(function* (organizationId: string, file: MediaFile) {
    const texts = [`data:${file.contentType};base64,`]
    let unencoded = Buffer.alloc(0)
    let length = 0
    const content = yield* bytes.read({ ...file, organizationId }, null)
    yield* Stream.runForEachArray(content, (chunks) =>
      Effect.sync(() => {
        const joined = Buffer.concat([unencoded, ...chunks])
        length += joined.length - unencoded.length
        // Base64 encodes three bytes as four characters, so one or two bytes may wait for the next
        // chunk.
        const end = joined.length - (joined.length % 3)
        texts.push(joined.toString("base64", 0, end))
        unencoded = joined.subarray(end)
      })
    )
    texts.push(unencoded.toString("base64"))
    if (length !== file.bytes) return yield* new BucketFault({ message: "a file is cut off" })
    return texts.join("")
  }, Effect.scoped)

  return Effect.fnUntraced(function* (
    organizationId: string,
    { files, needsBytes = false }: OrderFiles
  ): Effect.fn.Return<FileAddresses, Overloaded, Scope.Scope> {
    const isInline = (file: MediaFile) => needsBytes || !isSentAsUrl(settings, file)
    const addressOf = (file: MediaFile) =>
      isInline(file)
        ? dataUrl(organizationId, file)
        : bytes.presign({ ...file, organizationId }, urlSeconds)
    const inline = [...files.values()].filter(isInline)
    const size = inline.reduce((sum, file) => sum + Math.ceil(file.bytes / 3) * 4, 0)
    if (size > 0 && !(yield* memory.reserve(organizationId, size))) return yield* budgetExhausted
    const addresses = yield* Effect.forEach(files.values(), (file) =>
      Effect.map(addressOf(file), (address) => [file.id, address] as const)
    ).pipe(
      Effect.timeout(READ_TIMEOUT),
      Effect.tapError(({ message }) =>
        Effect.logError("order: reading input files failed").pipe(
          Effect.annotateLogs({ organization_id: organizationId, cause: message })
        )
      ),
      Effect.mapError(() => unreadable),
      failAsOverloaded
    )
    return new Map(addresses)
  })
})
