/**
 * Hands the session to new tabs of the console and ends it in all of them, by messages that only
 * pages of this origin receive and that no storage keeps.
 */
import { Option, Schema } from "effect"
import { hasStoredSession, isSignedIn, Session } from "./session.ts"

const Message = Schema.Union([
  Schema.TaggedStruct("SessionRequest", {}),
  Schema.TaggedStruct("SessionOffer", { session: Session }),
  Schema.TaggedStruct("SignOut", { session: Session })
])
const decode = Schema.decodeUnknownOption(Message)

const channel = new BroadcastChannel("media-gateway")

const send = (message: typeof Message.Type): void => channel.postMessage(message)

/** The session without the key and the token of another. */
const without = (session: Session, other: Session): Session => ({
  person: session.person?.id === other.person?.id ? null : (session.person ?? null),
  apiKey: session.apiKey === other.apiKey ? null : session.apiKey,
  operator: session.operator?.token === other.operator?.token ? null : session.operator
})

/** Ends the session in the other tabs that have its key or its token. */
export const signOutOtherTabs = (session: Session): void => send({ _tag: "SignOut", session })

/**
 * Answers the messages of other tabs until the returned function is called. A tab without a session
 * of its own asks for one; a tab that was signed out does not, so that it stays signed out.
 */
export const connectTabs = (
  session: Session,
  setSession: (session: Session) => void
): (() => void) => {
  const answer = (message: typeof Message.Type): void => {
    switch (message._tag) {
      case "SessionRequest":
        if (isSignedIn(session)) send({ _tag: "SessionOffer", session })
        return
      case "SessionOffer":
        if (!hasStoredSession()) setSession(message.session)
        return
      case "SignOut": {
        const remaining = without(session, message.session)
        if (remaining.apiKey !== session.apiKey || remaining.operator !== session.operator)
          setSession(remaining)
      }
    }
  }
  const listen = ({ data }: MessageEvent<unknown>): void => {
    Option.map(decode(data), answer)
  }
  channel.addEventListener("message", listen)
  if (!hasStoredSession()) send({ _tag: "SessionRequest" })
  return () => channel.removeEventListener("message", listen)
}
