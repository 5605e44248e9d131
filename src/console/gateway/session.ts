/** The session of this tab: signed in as a developer, as an operator, or as both. */
import { Option, Schema } from "effect"
import { Role } from "../../services/operators/Operators.ts"

export const Session = Schema.Struct({
  apiKey: Schema.NullOr(Schema.String),
  operator: Schema.NullOr(Schema.Struct({ token: Schema.String, name: Schema.String, role: Role }))
})
export type Session = typeof Session.Type

export const signedOut: Session = { apiKey: null, operator: null }

const PLACE = "media-gateway"
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Session))

export const keptSession = (): Session =>
  Option.getOrElse(decode(sessionStorage.getItem(PLACE)), () => signedOut)

export const keepSession = (session: Session): void => {
  sessionStorage.setItem(PLACE, JSON.stringify(session))
}

/** Whether the operator has one of `roles`. Owners may do everything. */
export const mayAct = ({ operator }: Session, ...roles: ReadonlyArray<Role>): boolean =>
  operator !== null && (operator.role === "owner" || roles.includes(operator.role))
