/** The commands of webhook endpoints: the operators' own, and those of an organisation. */
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { operatorEvents, organizationEvents } from "../../domain/webhookEvents.ts"
import { deliveryStates } from "../../features/webhooks/WebhooksApi.ts"
import { facts, printPage, printResult } from "../output.ts"
import { after, idOf, limit, newName, ofOrganization, splitList } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const eventTypes = [...organizationEvents, ...operatorEvents] as const

const endpoint = Argument.String("endpoint").pipe(
  Argument.withDescription("The endpoint's id, such as whe_...")
)
const delivery = idOf("delivery")

const decodeEvents = Schema.decodeUnknownOption(Schema.NonEmptyArray(Schema.Literals(eventTypes)))

const events = Flag.String("events").pipe(
  Flag.withDescription(`The events that are sent, of ${eventTypes.join(",")}`),
  Flag.map(splitList),
  Flag.filterMap(
    (names) => decodeEvents(names),
    (names) => `Expected some of ${eventTypes.join(",")}, not ${names.join(",")}`
  )
)

const isoTime = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString()

const list = Command.make(
  "list",
  { ofOrganization, after, limit },
  ({ ofOrganization, after, limit }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.operatorWebhooks.listEndpointsOf({ query: { ...after, ...ofOrganization, limit } }),
        (page) =>
          printPage(page, ["id", "name", "url", "events", "status", "failing since"], (one) => [
            one.id,
            one.name,
            one.url,
            one.event_types.join(","),
            one.status,
            isoTime(one.failing_since)
          ])
      )
    )
).pipe(Command.withDescription("List endpoints: the operators' own, or an organisation's"))

const create = Command.make(
  "create",
  {
    name: newName,
    url: Argument.String("url").pipe(Argument.withDescription("An https address")),
    events,
    ofOrganization
  },
  ({ name, url, events, ofOrganization }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.operatorWebhooks.createEndpointFor({
          payload: { name, url, event_types: events, ...ofOrganization }
        }),
        (created) =>
          printResult(created, () =>
            facts([
              ["id", created.id],
              ["signing secret", created.signing_secret]
            ])
          )
      )
    )
).pipe(
  Command.withDescription("Create an endpoint, and print its signing secret: it is shown once")
)

const remove = Command.make("remove", { endpoint }, ({ endpoint }) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(
      gateway.operatorWebhooks.deleteAnyEndpoint({ params: { id: endpoint } }),
      (removed) => printResult(removed, () => `${removed.id} is removed.`)
    )
  )
).pipe(Command.withDescription("Remove an endpoint, with its deliveries"))

const switches = (["enable", "disable"] as const).map((verb) =>
  Command.make(verb, { endpoint }, ({ endpoint }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.operatorWebhooks.changeAnyEndpoint({
          params: { id: endpoint },
          payload: { enabled: verb === "enable" }
        }),
        (changed) => printResult(changed, () => `${changed.id} is ${changed.status}.`)
      )
    )
  ).pipe(
    Command.withDescription(
      verb === "enable" ? "Send events to the endpoint again" : "Send no events to the endpoint"
    )
  )
)

const rotate = Command.make(
  "rotate-secret",
  {
    endpoint,
    overlap: Flag.Boolean("overlap").pipe(
      Flag.withDescription("The old secret signs as well, for 24 hours"),
      Flag.withDefault(false)
    )
  },
  ({ endpoint, overlap }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.operatorWebhooks.rotateAnySecret({
          params: { id: endpoint },
          payload: { keep_old_secret_active_for_24_hours: overlap }
        }),
        (rotated) => printResult(rotated, () => rotated.signing_secret)
      )
    )
).pipe(Command.withDescription("Print a new signing secret: it is shown once"))

const test = Command.make(
  "test",
  {
    endpoint,
    event: Argument.Literals("event", eventTypes).pipe(
      Argument.withDescription("The event that a sample is sent of")
    )
  },
  ({ endpoint, event }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.operatorWebhooks.testAnyEndpoint({
          params: { id: endpoint },
          payload: { event_type: event }
        }),
        (answer) => printResult(answer, () => `The receiver answered ${answer.status_code}.`)
      )
    )
).pipe(Command.withDescription("Send a sample of an event now, once"))

const deliveries = Command.make(
  "deliveries",
  {
    endpoint,
    status: Flag.Literals("status", deliveryStates).pipe(
      Flag.withDescription("Only those in this state"),
      Flag.map((status) => ({ status })),
      Flag.withDefault({})
    ),
    task: Flag.String("task").pipe(
      Flag.withDescription("Only those about this task"),
      Flag.map((task_id) => ({ task_id })),
      Flag.withDefault({})
    ),
    after,
    limit
  },
  ({ endpoint, status, task, after, limit }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.operatorWebhooks.listAnyDeliveries({
          params: { id: endpoint },
          query: { ...after, ...status, ...task, limit }
        }),
        (page) =>
          printPage(
            page,
            ["id", "event", "task", "status", "attempts", "last answer", "next attempt", "created"],
            (one) => {
              const last = one.attempts.at(-1)
              return [
                one.id,
                one.type,
                one.task_id,
                one.status,
                one.attempts.length,
                last === undefined ? null : (last.status ?? last.error),
                one.next_attempt_at,
                one.created_at
              ]
            }
          )
      )
    )
).pipe(Command.withDescription("List deliveries to an endpoint, newest first"))

const redeliver = Command.make("redeliver", { endpoint, delivery }, ({ endpoint, delivery }) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(
      gateway.operatorWebhooks.redeliverAny({
        params: { id: endpoint },
        payload: { delivery_id: delivery }
      }),
      (result) => printResult(result, () => `${delivery} is sent again, under its old id.`)
    )
  )
).pipe(Command.withDescription("Send a delivery again"))

export const webhookCommand = Command.make("webhook").pipe(
  Command.withDescription("Webhook endpoints and their deliveries"),
  Command.withSubcommands([list, create, remove, ...switches, rotate, test, deliveries, redeliver])
)
