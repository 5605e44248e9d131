import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import {
  InvalidRequest,
  Overloaded,
  PayloadTooLarge,
  UnsupportedMediaType
} from "../../domain/Errors.ts"
import { filePurposes } from "../../domain/files/filePurposes.ts"
import { mediaTypeOf } from "../../domain/files/mediaTypes.ts"
import { isFileId } from "../../domain/mediaUrls.ts"
import { unknownFields, withoutFaults } from "../../domain/requestFields.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller, type FormParts, RequestForm } from "../../http/api/middlewares.ts"
import { storedFile } from "../../http/handlers/orders/storedFile.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { unixSeconds } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Files, type MediaFile, noSuchFile } from "../../services/files/Files.ts"
import { makeFileBytes } from "../../services/files/fileBytes.ts"
import { FileForm, FilesGroup } from "./FilesApi.ts"
import { makeFileUploads, type UploadedFile } from "./fileUploads.ts"

const HOUR_SECONDS = 3600
/** The maximum length of a file name, which is only for people to read. */
const MAX_FILENAME_LENGTH = 255

const isPurpose = Schema.is(Schema.Literals(filePurposes))

const refuse = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

const fileView = (file: MediaFile) => ({
  id: file.id,
  object: "file" as const,
  bytes: file.bytes,
  filename: file.filename,
  status: "processed" as const,
  purpose: file.purpose,
  created_at: unixSeconds(file.createdAt),
  expires_at: unixSeconds(file.expiresAt)
})

const displayName = (name: string): string =>
  name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .slice(0, MAX_FILENAME_LENGTH)
    .toWellFormed() || "file"

const readLifetimeSeconds = Effect.fnUntraced(function* (
  values: ReadonlyMap<string, string>,
  fileHours: number
) {
  const anchor = values.get("expires_after[anchor]")
  if (anchor !== undefined && anchor !== "created_at") {
    return yield* refuse("expires_after[anchor]", "Expected created_at")
  }
  const maxSeconds = Math.ceil(fileHours * HOUR_SECONDS)
  const minSeconds = Math.min(HOUR_SECONDS, maxSeconds)
  const value = values.get("expires_after[seconds]")
  const seconds = value === undefined ? maxSeconds : Number(/^\d{1,9}$/.exec(value)?.[0])
  if (!(seconds >= minSeconds && seconds <= maxSeconds)) {
    return yield* refuse(
      "expires_after[seconds]",
      `Expected a whole number of seconds from ${minSeconds} to ${maxSeconds}`
    )
  }
  return seconds
})

const checkContent = Effect.fnUntraced(function* (bytes: Buffer, maxFileBytes: number) {
  if (bytes.length === 0) return yield* refuse("file", "Expected a file with something in it")
  if (bytes.length > maxFileBytes) {
    return yield* new PayloadTooLarge({
      message: `file: A file may have at most ${maxFileBytes} bytes`,
      param: "file"
    })
  }
  const contentType = mediaTypeOf(bytes)
  if (contentType !== null) return contentType
  return yield* refuse(
    "file",
    "Expected a picture (png, jpeg, webp, gif, bmp, avif, heic), a sound (mp3, wav, aac, m4a, flac, ogg) or a film (mp4, mov, webm, mkv); what it is, is told by how it begins"
  )
})

/** Reads and checks the file of a form and the fields about it. */
const readUpload = Effect.fnUntraced(function* (
  { fields, files }: FormParts,
  { maxFileBytes, fileHours }: Settings
): Effect.fn.Return<UploadedFile, InvalidRequest | PayloadTooLarge> {
  const values = new Map(fields)
  const names = [...values.keys(), ...files.map(({ field }) => field)]
  yield* Effect.fromResult(
    withoutFaults(
      unknownFields(Object.fromEntries(names.map((name) => [name, ""])), FileForm.fields)
    )
  )
  const [file, second] = files.filter(({ field }) => field === "file")
  if (file === undefined) {
    const isText = values.has("file")
    return yield* refuse("file", isText ? "Expected a file, not a text" : "This field is required")
  }
  if (second !== undefined) return yield* refuse("file", "Expected one file; send others apart")

  const purpose = values.get("purpose")
  if (purpose === undefined) return yield* refuse("purpose", "This field is required")
  if (!isPurpose(purpose)) return yield* refuse("purpose", `Expected ${filePurposes.join(", ")}`)

  return {
    filename: displayName(file.name),
    purpose,
    lifetimeSeconds: yield* readLifetimeSeconds(values, fileHours),
    contentType: yield* checkContent(file.bytes, maxFileBytes),
    bytes: file.bytes
  }
})

const formRequired = new UnsupportedMediaType({
  message: "Send the file as multipart/form-data, with a part file and a part purpose"
})

const readFailed = new Overloaded({
  message: "The file cannot be read at the moment",
  retryAfterSeconds: 2
})

export const layerFilesHandlers = HttpApiBuilder.group(
  customerApi(FilesGroup),
  "files",
  Effect.fn(function* (handlers) {
    const files = yield* Files
    const upload = yield* makeFileUploads
    const bytes = yield* makeFileBytes
    const settings = yield* Settings

    const find = Effect.fnUntraced(function* (id: string) {
      const { organizationId } = yield* CurrentCaller
      const [file] = isFileId(id) ? yield* files.find(organizationId, [id]) : []
      return file === undefined ? yield* noSuchFile(id) : { ...file, organizationId }
    })

    const withUpload = handlers.handleRaw(
      "create",
      Effect.fnUntraced(function* () {
        const form = yield* RequestForm
        if (form === null) return yield* formRequired
        const file = yield* readUpload(yield* form, settings)
        return HttpServerResponse.jsonUnsafe(fileView(yield* upload(yield* CurrentCaller, file)))
      })
    )
    return withUpload.handleAll({
      list: Effect.fn("files.list")(function* ({ query }) {
        const { organizationId } = yield* CurrentCaller
        const { purpose = null, ...page } = query
        const list = listView(yield* files.list(organizationId, purpose, pageOf(page)), fileView)
        return {
          ...list,
          first_id: list.data[0]?.id ?? null,
          last_id: list.data.at(-1)?.id ?? null
        }
      }),
      read: Effect.fn("files.read")(function* ({ params }) {
        return fileView(yield* find(params.id))
      }),
      content: Effect.fn("files.content")(function* ({ params, headers }) {
        const file = yield* find(params.id)
        return yield* storedFile(file, headers, (part) =>
          bytes.read(file, part).pipe(
            Effect.tapError(({ message }) =>
              Effect.logWarning("files: reading a file failed").pipe(
                Effect.annotateLogs({ file_id: file.id, cause: message })
              )
            ),
            Effect.mapError(() => readFailed)
          )
        )
      }),
      remove: Effect.fn("files.remove")(function* ({ params }) {
        const { organizationId } = yield* CurrentCaller
        const { id } = params
        const isRemoved = isFileId(id) && (yield* files.remove(organizationId, id))
        if (!isRemoved) return yield* noSuchFile(id)
        return { id, object: "file" as const, deleted: true }
      })
    })
  })
)
