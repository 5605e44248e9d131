/** The HTTP API by which operators see and end the sessions of people. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { idParams } from "../../http/api/admin/lists.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles } from "../../http/api/middlewares.ts"
import { list, pageQuery, text } from "../../http/api/shared.ts"
import { SessionView } from "./SignInApi.ts"

export class SessionsGroup extends HttpApiGroup.make("sessions").add(
  HttpApiEndpoint.get("listSessions", "/sessions", {
    query: pageQuery,
    success: list(SessionView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation("List sessions", "Of everybody who is signed in, with their present rights.")
  ),
  HttpApiEndpoint.delete("endSession", "/sessions/:id", {
    params: idParams("session"),
    success: Schema.Struct({ id: text("The session's id") }),
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "End a session",
        "On every gateway at once. The person may sign in again, as long as a rule is about them."
      )
    )
) {}
