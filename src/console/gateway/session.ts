/**
 * The session of this tab: signed in as a developer, as an operator, or as both, by a key or token,
 * or as a person by a cookie that scripts cannot read.
 */
import { Option, Schema } from "effect"
import { Role } from "../../services/operators/Operators.ts"

const SignedInPerson = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** The value that requests of the session need, if they change something. */
  csrfToken: Schema.String
})

export const Session = Schema.Struct({
  /** The person whose cookie the browser has; absent or null for sessions by key or token alone. */
  person: Schema.optionalKey(Schema.NullOr(SignedInPerson)),
  apiKey: Schema.NullOr(Schema.String),
  operator: Schema.NullOr(Schema.Struct({ token: Schema.String, name: Schema.String, role: Role }))
})
export type Session = typeof Session.Type

/** Stands in place of a key or a token where the cookie of a person takes its place. */
export const cookieOf = (personId: string): string => `cookie ${personId}`
export const isCookie = (secret: string | undefined): boolean =>
  secret?.startsWith("cookie ") ?? false

export const emptySession: Session = { apiKey: null, operator: null }

const STORAGE_KEY = "media-gateway"
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Session))

export const readSession = (): Session =>
  Option.getOrElse(decode(sessionStorage.getItem(STORAGE_KEY)), () => emptySession)

/** A text of the tab that belongs to its API key. */
const storedText = (key: string) => ({
  read: () => sessionStorage.getItem(key),
  write: (text: string) => {
    try {
      sessionStorage.setItem(key, text)
    } catch {
      // A text that exceeds the browser's quota is lost with the next reload.
    }
  },
  clear: () => sessionStorage.removeItem(key)
})

export const playgroundDraft = storedText("media-gateway-playground")
/** The first words of the prompts of this tab's orders. */
export const playgroundTitles = storedText("media-gateway-playground-titles")

export const storeSession = (session: Session): void => {
  const { apiKey } = readSession()
  if (apiKey !== null && apiKey !== session.apiKey) {
    // The next person at this tab does not see what the last one wrote.
    playgroundDraft.clear()
    playgroundTitles.clear()
  }
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(session))
}

/** Whether this tab has had a session, even if it was signed out since. */
export const hasStoredSession = (): boolean => sessionStorage.getItem(STORAGE_KEY) !== null

export const isSignedIn = ({ apiKey, operator }: Session): boolean =>
  apiKey !== null || operator !== null

/** Whether the operator has one of `roles`. Owners may do everything. */
export const hasRole = ({ operator }: Session, ...roles: ReadonlyArray<Role>): boolean =>
  operator !== null && (operator.role === "owner" || roles.includes(operator.role))
