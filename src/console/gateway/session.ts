/** The session of this tab: signed in as a developer, as an operator, or as both. */
import { Option, Schema } from "effect"
import { Role } from "../../services/operators/Operators.ts"

export const Session = Schema.Struct({
  apiKey: Schema.NullOr(Schema.String),
  operator: Schema.NullOr(Schema.Struct({ token: Schema.String, name: Schema.String, role: Role }))
})
export type Session = typeof Session.Type

export const emptySession: Session = { apiKey: null, operator: null }

const STORAGE_KEY = "media-gateway"
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Session))

export const readSession = (): Session =>
  Option.getOrElse(decode(sessionStorage.getItem(STORAGE_KEY)), () => emptySession)

export const storeSession = (session: Session): void => {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(session))
}

/** Whether this tab has had a session, even if it was signed out since. */
export const hasStoredSession = (): boolean => sessionStorage.getItem(STORAGE_KEY) !== null

export const isSignedIn = ({ apiKey, operator }: Session): boolean =>
  apiKey !== null || operator !== null

/** Whether the operator has one of `roles`. Owners may do everything. */
export const hasRole = ({ operator }: Session, ...roles: ReadonlyArray<Role>): boolean =>
  operator !== null && (operator.role === "owner" || roles.includes(operator.role))
