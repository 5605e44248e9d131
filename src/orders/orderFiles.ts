/** An organisation's files in its orders: found before anything is held, and given to the vendor. */
import { Effect, type Scope, Stream } from "effect"
import { InvalidRequest, Overloaded } from "../domain/Errors.ts"
import type { FileAddresses } from "../domain/files/fileReferences.ts"
import { type MediaKind, mediaKindOf } from "../domain/files/mediaTypes.ts"
import type { FileReference } from "../domain/mediaUrls.ts"
import { type FieldFault, MAX_FIELD_FAULTS, withoutFaults } from "../domain/requestFields.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import { Settings } from "../runtime/Settings.ts"
import { makeShares } from "../runtime/Shares.ts"
import type { Caller } from "../services/Access.ts"
import { Files, type MediaFile } from "../services/files/Files.ts"
import { makeFileBytes } from "../services/files/fileBytes.ts"
import { BucketFault } from "../services/results/ArchiveBucket.ts"

/** The files of an order by their ids. */
export type OrderedFiles = ReadonlyMap<string, MediaFile>

export const noFiles: OrderedFiles = new Map()

const mediaNames: Record<MediaKind, string> = {
  image: "a picture",
  audio: "a sound",
  video: "a film"
}

/** One answer for a file that is not there, and for one of another organisation. */
const faultOf = ({ path, kind, id }: FileReference, file: MediaFile | undefined) => {
  if (file === undefined) {
    return { path, message: `No file is called ${JSON.stringify(id)}; it may have expired` }
  }
  return mediaKindOf(file.contentType) === kind
    ? null
    : { path, message: `Expected ${mediaNames[kind]}, and the file is of type ${file.contentType}` }
}

/** A vendor can load files of the bucket wherever clients are sent to it. */
const isSentAsAddress = (settings: Settings, { isInBucket }: MediaFile): boolean =>
  settings.archiveRedirect && isInBucket

/** Finds what an order refers to, without reading it. */
export const makeFindFiles = Effect.gen(function* () {
  const files = yield* Files
  const settings = yield* Settings
  const { maxMediaBodyBytes } = settings

  return Effect.fnUntraced(function* (
    { organizationId }: Caller,
    references: ReadonlyArray<FileReference>
  ): Effect.fn.Return<OrderedFiles, InvalidRequest | Overloaded> {
    const [first] = references
    if (first === undefined) return noFiles
    const ids = [...new Set(references.map(({ id }) => id))]
    const stored = yield* failAsOverloaded(files.find(organizationId, ids))
    const byId = new Map(stored.map((file) => [file.id, file]))
    const faults = references
      .map((reference) => faultOf(reference, byId.get(reference.id)))
      .filter((fault): fault is FieldFault => fault !== null)
    yield* Effect.fromResult(withoutFaults(faults.slice(0, MAX_FIELD_FAULTS)))
    const inlineBytes = references
      .flatMap(({ id }) => byId.get(id) ?? [])
      .filter((file) => !isSentAsAddress(settings, file))
      .reduce((sum, { bytes }) => sum + bytes, 0)
    if (inlineBytes <= maxMediaBodyBytes) return byId
    return yield* new InvalidRequest({
      message: `${first.path}: Expected files of at most ${maxMediaBodyBytes} bytes together, as they are sent to the vendor within the order`,
      param: first.path
    })
  })
})

/** Longer than a queue at a vendor, and the longest that a bucket may sign for. */
const MAX_ADDRESS_SECONDS = 7 * 24 * 3600
/** The time for reading all files of an order together, before anything is held. */
const READ_TIMEOUT = "1 minute"
/** Files that are sent within orders get this share of the budget for bodies: all together, and of one organisation. */
const SHARE_OF_BODIES = 0.5
const SHARE_OF_ORGANIZATION = 0.25

const noRoom = new Overloaded({
  message:
    "Other orders' files take all the room there is for them; send this one again in a moment",
  retryAfterSeconds: 1
})
const unreadable = new Overloaded({
  message: "The order's files cannot be read at the moment; send it again",
  retryAfterSeconds: 2
})

/**
 * Gives files to a vendor: by an address that opens for as long as a task may take, where the vendor can
 * load it, and else within the order. Their room is kept until the scope closes.
 */
export const makeGiveFiles = Effect.gen(function* () {
  const bytes = yield* makeFileBytes
  const settings = yield* Settings
  const { bodyBudgetBytes, taskDeadlineSeconds } = settings
  const addressSeconds = Math.min(MAX_ADDRESS_SECONDS, Math.ceil(taskDeadlineSeconds))
  const room = makeShares({
    perOwner: Math.floor(bodyBudgetBytes * SHARE_OF_ORGANIZATION),
    total: Math.floor(bodyBudgetBytes * SHARE_OF_BODIES)
  })

  /** The file as base64. It is encoded piece by piece, so that no turn of the event loop is long. */
  const dataUrl = Effect.fnUntraced(function* (organizationId: string, file: MediaFile) {
    const texts = [`data:${file.contentType};base64,`]
    let unencoded = Buffer.alloc(0)
    let length = 0
    const pieces = yield* bytes.read({ ...file, organizationId }, null)
    yield* Stream.runForEachArray(pieces, (arrived) =>
      Effect.sync(() => {
        const joined = Buffer.concat([unencoded, ...arrived])
        length += joined.length - unencoded.length
        // Three bytes are four characters.
        const end = joined.length - (joined.length % 3)
        texts.push(joined.toString("base64", 0, end))
        unencoded = joined.subarray(end)
      })
    )
    texts.push(unencoded.toString("base64"))
    if (length !== file.bytes) return yield* new BucketFault({ message: "a file is cut off" })
    return texts.join("")
  }, Effect.scoped)

  const addressOf = (organizationId: string, file: MediaFile) =>
    isSentAsAddress(settings, file)
      ? bytes.presign({ ...file, organizationId }, addressSeconds)
      : dataUrl(organizationId, file)

  return Effect.fnUntraced(function* (
    organizationId: string,
    files: OrderedFiles
  ): Effect.fn.Return<FileAddresses, Overloaded, Scope.Scope> {
    if (files.size === 0) return new Map()
    const inline = [...files.values()].filter((file) => !isSentAsAddress(settings, file))
    const size = inline.reduce((sum, file) => sum + Math.ceil(file.bytes / 3) * 4, 0)
    if (size > 0 && !(yield* room.reserve(organizationId, size))) return yield* noRoom
    const addresses = yield* Effect.forEach(files.values(), (file) =>
      Effect.map(addressOf(organizationId, file), (address) => [file.id, address] as const)
    ).pipe(
      Effect.timeout(READ_TIMEOUT),
      Effect.tapError(({ message }) => Effect.logError("order: reading its files failed", message)),
      Effect.mapError(() => unreadable),
      failAsOverloaded
    )
    return new Map(addresses)
  })
})
