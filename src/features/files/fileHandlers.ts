import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import {
  InvalidRequest,
  Overloaded,
  PayloadTooLarge,
  UnsupportedMediaType
} from "../../domain/Errors.ts"
import { mediaTypeOf } from "../../domain/files/mediaTypes.ts"
import { isFileId } from "../../domain/mediaUrls.ts"
import { unknownFields, withoutFaults } from "../../domain/requestFields.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller, type FormParts, RequestForm } from "../../http/api/middlewares.ts"
import { storedFile } from "../../http/handlers/orders/storedFile.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Files, type MediaFile, noSuchFile } from "../../services/files/Files.ts"
import { makeFileBytes } from "../../services/files/fileBytes.ts"
import { FileForm, FilesGroup, purposes } from "./FilesApi.ts"
import { makeFileUploads, type UploadedFile } from "./fileUploads.ts"

const HOUR = 3600
/** Of the name, which is for people to read. */
const MAX_NAME = 255

const isPurpose = Schema.is(Schema.Literals(purposes))

const refuse = (param: string, message: string) =>
  Effect.fail(new InvalidRequest({ message: `${param}: ${message}`, param }))

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000)

const view = ({ id, bytes, filename, purpose, createdAt, expiresAt }: MediaFile) => ({
  ...{ id, object: "file" as const, bytes, filename, status: "processed" as const },
  purpose: isPurpose(purpose) ? purpose : ("user_data" as const),
  created_at: secondsOf(createdAt),
  expires_at: secondsOf(expiresAt)
})

const displayName = (name: string): string =>
  name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .slice(0, MAX_NAME)
    .toWellFormed() || "file"

/** What the form asks for, and the file in it. */
const uploadOf = Effect.fnUntraced(function* (
  { fields, files }: FormParts,
  { maxFileBytes, fileHours }: Settings
): Effect.fn.Return<UploadedFile, InvalidRequest | PayloadTooLarge> {
  const said = new Map(fields)
  const names = [...said.keys(), ...files.map(({ field }) => field)]
  yield* Effect.fromResult(
    withoutFaults(
      unknownFields(Object.fromEntries(names.map((name) => [name, ""])), FileForm.fields)
    )
  )
  const [file, second] = files.filter(({ field }) => field === "file")
  if (file === undefined) {
    const isText = said.has("file")
    return yield* refuse("file", isText ? "Expected a file, not a text" : "This field is required")
  }
  if (second !== undefined) return yield* refuse("file", "Expected one file; send others apart")

  const purpose = said.get("purpose")
  if (purpose === undefined) return yield* refuse("purpose", "This field is required")
  if (!isPurpose(purpose)) return yield* refuse("purpose", `Expected ${purposes.join(", ")}`)

  const anchor = said.get("expires_after[anchor]")
  if (anchor !== undefined && anchor !== "created_at") {
    return yield* refuse("expires_after[anchor]", "Expected created_at")
  }
  const longest = Math.ceil(fileHours * HOUR)
  const shortest = Math.min(HOUR, longest)
  const asked = said.get("expires_after[seconds]")
  const lifeSeconds = asked === undefined ? longest : Number(/^\d{1,9}$/.exec(asked)?.[0])
  if (!(lifeSeconds >= shortest && lifeSeconds <= longest)) {
    return yield* refuse(
      "expires_after[seconds]",
      `Expected a whole number of seconds from ${shortest} to ${longest}`
    )
  }

  const { bytes, name } = file
  if (bytes.length === 0) return yield* refuse("file", "Expected a file with something in it")
  if (bytes.length > maxFileBytes) {
    return yield* new PayloadTooLarge({
      message: `file: A file may have at most ${maxFileBytes} bytes`,
      param: "file"
    })
  }
  const contentType = mediaTypeOf(bytes)
  if (contentType === null) {
    return yield* refuse(
      "file",
      "Expected a picture (png, jpeg, webp, gif, bmp, avif, heic), a sound (mp3, wav, aac, m4a, flac, ogg) or a film (mp4, mov, webm, mkv); what it is, is told by how it begins"
    )
  }
  return { filename: displayName(name), purpose, contentType, bytes, lifeSeconds }
})

const notAForm = new UnsupportedMediaType({
  message: "Send the file as multipart/form-data, with a part file and a part purpose"
})

const unreadable = new Overloaded({
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

    const uploading = handlers.handleRaw(
      "create",
      Effect.fnUntraced(function* () {
        const form = yield* RequestForm
        if (form === null) return yield* notAForm
        const asked = yield* uploadOf(yield* form, settings)
        return HttpServerResponse.jsonUnsafe(view(yield* upload(yield* CurrentCaller, asked)))
      })
    )
    return uploading.handleAll({
      list: Effect.fn("files.list")(function* ({ query }) {
        const { organizationId } = yield* CurrentCaller
        const { purpose = null, ...asked } = query
        const listed = listView(yield* files.list(organizationId, purpose, pageOf(asked)), view)
        const { data } = listed
        return { ...listed, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      }),
      read: Effect.fn("files.read")(function* ({ params }) {
        return view(yield* find(params.id))
      }),
      content: Effect.fn("files.content")(function* ({ params, headers }) {
        const file = yield* find(params.id)
        return yield* storedFile(file, headers, (part) =>
          bytes.read(file, part).pipe(
            Effect.tapError(({ message }) =>
              Effect.logWarning("a file could not be read", message)
            ),
            Effect.mapError(() => unreadable)
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
