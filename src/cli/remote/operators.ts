/** The commands by which the gateway's owners manage operators. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Role } from "../../services/operators/Operators.ts"
import { printPage, printResult } from "../output.ts"
import { after, idOf, limit, newName } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const operator = idOf("operator")
const role = Argument.Literals("role", Role.literals).pipe(
  Argument.withDescription(
    "owner may do everything; operator the catalog, channels, tasks and accounts; finance what is about money; viewer may only read"
  )
)

export const operatorCommand = Command.make("operator").pipe(
  Command.withDescription("People who run the gateway, each with a role and a token"),
  Command.withSubcommands([
    Command.make("list", { after, limit }, ({ after, limit }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.operators.listOperators({ query: { ...after, limit } }), (page) =>
          printPage(page, ["id", "name", "role", "created", "revoked"], (one) => [
            one.id,
            one.name,
            one.role,
            one.created_at,
            one.revoked_at
          ])
        )
      )
    ).pipe(Command.withDescription("List operators, also revoked ones")),
    Command.make("create", { name: newName, role }, ({ name, role }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.operators.createOperator({ payload: { name, role } }), (created) =>
          // Only the token is printed to stdout; it cannot be read again later.
          printResult(created, () => created.token)
        )
      )
    ).pipe(Command.withDescription("Create an operator, and print the token: it is shown once")),
    Command.make("role", { operator, role }, ({ operator, role }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(
          gateway.operators.changeOperator({ params: { id: operator }, payload: { role } }),
          (changed) => printResult(changed, () => `${changed.id} has the role ${changed.role}.`)
        )
      )
    ).pipe(Command.withDescription("Change an operator's role, on every gateway within a second")),
    Command.make("revoke", { operator }, ({ operator }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.operators.revokeOperator({ params: { id: operator } }), (revoked) =>
          printResult(revoked, () => `The token of ${revoked.id} is revoked.`)
        )
      )
    ).pipe(Command.withDescription("Revoke an operator's token, on every gateway within a second"))
  ])
)
