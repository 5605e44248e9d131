/** Orders that are answered with a task where the request prefers one (RFC 7240). */
import { HttpServerResponse } from "effect/http"
import { InvalidRequest } from "../../../domain/Errors.ts"
import { type TaskKind, taskPaths } from "../../../domain/orderIds.ts"

const RESPOND_ASYNC = "respond-async"

/** Whether a `Prefer` header requests a task in place of the product. */
export const prefersTask = (prefer = ""): boolean =>
  prefer
    .split(",")
    .some((preference) => preference.split(";", 1)[0]?.trim().toLowerCase() === RESPOND_ASYNC)

/** The refusal of a receiver of callbacks by an order without a task. */
export const needsTask = (product: string) =>
  new InvalidRequest({
    message: `callback_url: Send the header "Prefer: ${RESPOND_ASYNC}" with it, as the answer of an order without has the ${product}`,
    param: "callback_url"
  })

/** The answer to an order whose task has just begun. */
export const acceptedTask = (
  kind: Exclude<TaskKind, "video">,
  id: string,
  retryHeaders: Readonly<Record<string, string>>
) =>
  HttpServerResponse.jsonUnsafe(
    { id, task_status: "processing" },
    {
      status: 202,
      headers: {
        location: `${taskPaths[kind]}/${id}`,
        "preference-applied": RESPOND_ASYNC,
        ...retryHeaders
      }
    }
  )
