/** Sign-in with the account of one's company: the gateway's routes under `/auth`. */
import { Option, Schema } from "effect"
import { Role } from "../../services/operators/Operators.ts"
import { request } from "./files.ts"
import {
  cookieOf,
  isCookie,
  isSignedIn,
  readSession,
  type Session,
  storeSession
} from "./session.ts"

const Methods = Schema.Struct({ sso: Schema.Boolean })
const PersonSession = Schema.Struct({
  person_id: Schema.String,
  name: Schema.String,
  email: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Role),
  organization_id: Schema.NullOr(Schema.String),
  csrf_token: Schema.String
})
const SignOut = Schema.Struct({ end_session_url: Schema.NullOr(Schema.String) })

/** The decoded answer; null where there is none of this shape, such as without a session. */
const read = async <A>(path: string, schema: Schema.ConstraintDecoder<A>): Promise<A | null> => {
  const body: unknown = await fetch(path).then(
    (response) => (response.ok ? response.json() : null),
    () => null
  )
  return Option.getOrNull(Schema.decodeUnknownOption(schema)(body))
}

/** Whether the gateway offers it; the browser stores the answer for some minutes. */
export const offersSignIn = async (): Promise<boolean> =>
  (await read("/auth/methods", Methods))?.sso ?? false

/** The address that begins a sign-in, and leads back to the page that is open. */
export const signInAddress = ({ pathname, search, hash }: Location): string =>
  `/auth/login?return_to=${encodeURIComponent(`${pathname}${search}${hash}`)}`

/** The parts of a session that no person's cookie stands for. */
export const withoutPerson = ({ apiKey, operator }: Session): Session => ({
  apiKey: apiKey !== null && isCookie(apiKey) ? null : apiKey,
  operator: isCookie(operator?.token) ? null : operator
})

/** Adds the person whose cookie the browser has, where it has one. */
export const withPerson = async (session: Session): Promise<Session> => {
  const keySession = withoutPerson(session)
  const person = await read("/auth/session", PersonSession)
  if (person === null) return keySession
  const { person_id: id, role, organization_id, csrf_token: csrfToken } = person
  const name = person.email ?? person.name
  return {
    person: { id, name, csrfToken },
    apiKey: keySession.apiKey ?? (organization_id === null ? null : cookieOf(id)),
    operator: keySession.operator ?? (role === null ? null : { token: cookieOf(id), name, role })
  }
}

/** Finds the person's session when the console is opened, unless the tab has a session already. */
export const restoreSession = async (): Promise<void> => {
  const session = readSession()
  if (isSignedIn(session) || !(await offersSignIn())) return
  const currentSession = await withPerson(session)
  if (isSignedIn(currentSession)) storeSession(currentSession)
}

/** Ends the person's session at the gateway; the result is where it ends at the provider. */
export const endPersonSession = async (session: Session): Promise<string | null> => {
  const response = await request(session, "/auth/logout", { method: "POST" })
  const body: unknown = await response.json()
  return Option.match(Schema.decodeUnknownOption(SignOut)(body), {
    onNone: () => null,
    onSome: ({ end_session_url }) => end_session_url
  })
}
