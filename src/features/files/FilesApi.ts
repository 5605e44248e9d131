/**
 * The HTTP API of files: images, audio and video that are uploaded once and referred to in orders.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { filePurposes } from "../../domain/files/filePurposes.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { asForm } from "../../http/api/forms.ts"
import {
  BodyLimit,
  FreeCall,
  KeepsFiles,
  LookUp,
  RequiredScope
} from "../../http/api/middlewares.ts"
import {
  constant,
  fileRequest,
  flag,
  integer,
  listWithEnds,
  oneOf,
  pageQuery,
  text
} from "../../http/api/shared.ts"

const purpose = oneOf(
  filePurposes,
  "What it is for, in the words of the standard form",
  "user_data"
)

const FileView = Schema.Struct({
  id: text("The file's id, which orders take in place of an address"),
  object: constant("file", "Always `file`"),
  bytes: integer("Its size"),
  created_at: integer("When it was uploaded, in seconds since 1970"),
  expires_at: integer("When it is removed, in seconds since 1970"),
  filename: text("As its client named it"),
  purpose,
  status: constant("processed", "Always `processed`: it can be used at once")
}).annotate({ identifier: "File", description: "A picture, a sound or a film" })

/** The parts of the form that uploads a file. */
export const FileForm = Schema.Struct({
  file: Schema.String.annotate({
    description: "The file itself: what it is, is told by how it begins",
    format: "binary"
  }),
  purpose,
  "expires_after[anchor]": Schema.optionalKey(
    constant("created_at", "From when `expires_after[seconds]` counts")
  ),
  "expires_after[seconds]": Schema.optionalKey(
    text("After how many seconds it is removed; GATEWAY_FILE_HOURS when left out", "3600")
  )
})

const fileId = { id: text("The file's id") }
/** The scopes of the two kinds of orders that can refer to files. */
const scopes = ["images", "videos"] as const

export class FilesGroup extends HttpApiGroup.make("files")
  .add(
    HttpApiEndpoint.post("create", "/files", {
      payload: asForm(FileForm),
      success: FileView,
      error: bodyErrors
    })
      .annotate(BodyLimit, "media")
      .annotate(KeepsFiles, true)
      .annotate(FreeCall, "uploads")
      .annotateMerge(
        operation(
          "Upload a file",
          "A picture, a sound or a film for some hours. Orders of the organisation take its id wherever they take an address."
        )
      ),
    HttpApiEndpoint.get("list", "/files", {
      query: { ...pageQuery, purpose: Schema.optionalKey(purpose) },
      success: listWithEnds(FileView),
      error: errors.InvalidRequest
    }).annotateMerge(operation("List files", "Those of the organisation, newest first.")),
    HttpApiEndpoint.get("read", "/files/:id", {
      params: fileId,
      success: FileView,
      error: errors.NotFound
    })
      .annotate(LookUp, true)
      .annotateMerge(operation("Read a file's data", "What is known of it.")),
    HttpApiEndpoint.get("content", "/files/:id/content", {
      params: fileId,
      headers: fileRequest.headers,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      error: [errors.NotFound, errors.Overloaded]
    }).annotateMerge(
      operation("Load a file", "The bytes as they were uploaded, whole or by `Range`.")
    ),
    HttpApiEndpoint.delete("remove", "/files/:id", {
      params: fileId,
      success: Schema.Struct({
        id: text("The file's id"),
        object: constant("file", "Always `file`"),
        deleted: flag("Whether it was deleted")
      }).annotate({ identifier: "DeletedFile" }),
      error: errors.NotFound
    }).annotateMerge(
      operation(
        "Delete a file",
        "No order may refer to it from now on; those that were sent to their vendors go on."
      )
    )
  )
  .annotateEndpoints(RequiredScope, scopes) {}
