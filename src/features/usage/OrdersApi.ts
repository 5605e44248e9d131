/** The HTTP API of a member's own orders of every kind, with their charges. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Modality } from "../../domain/catalog/Modality.ts"
import { publicStates } from "../../domain/taskStates.ts"
import { idFilter, stateFilter, timeQuery } from "../../http/api/admin/lists.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { LookUp, RequiredScope } from "../../http/api/middlewares.ts"
import { OwnOrderView } from "../../http/api/orderViews.ts"
import { list, text, textOrNull, usageQuery } from "../../http/api/shared.ts"

export class OrdersGroup extends HttpApiGroup.make("orders").add(
  HttpApiEndpoint.get("list", "/orders", {
    query: {
      ...usageQuery,
      model: idFilter("model"),
      modality: Schema.optionalKey(
        Modality.annotate({ description: "Only those of this modality" })
      ),
      state: stateFilter(publicStates),
      ...timeQuery
    },
    success: Schema.Struct({
      ...list(OwnOrderView).fields,
      next: textOrNull("The `after` of the next page; null on the last one")
    }),
    error: errors.InvalidRequest
  })
    .annotate(RequiredScope, "usage")
    .annotateMerge(
      operation(
        "List orders",
        "The member's own videos, images and texts, newest first. A page looks at a few thousand orders at most: where filters leave few of them it may have fewer entries than asked for, even none, while `has_more` is true; `after` with the value of `next` goes on."
      )
    ),
  HttpApiEndpoint.get("read", "/orders/:id", {
    params: { id: text("The order's id") },
    success: OwnOrderView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "usage")
    .annotateMerge(operation("Read an order", "One order, with its hold and its charge."))
) {}
