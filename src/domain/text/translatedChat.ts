/**
 * Chats that stand for a request of another API. Their faults name the fields of that request, as its
 * client sent no chat.
 */
import { Result, Schema } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { type FieldFault, invalidFields, issueFaults } from "../requestFields.ts"
import { type VendorFailure, VendorRefused } from "../VendorOutcome.ts"
import { ChatBody } from "./TextRequest.ts"

/** Fields of a chat whose place in the request is another, with this place. */
export type ChatPlaces = ReadonlyMap<string, string>

/** The places of a request that is a chat itself. */
export const samePlaces: ChatPlaces = new Map()

/** The first name of a path. */
const rootName = /^[^.[]*/

/** The field of the request for a field of its chat. What lies below a moved field differs. */
export const placeOf = (places: ChatPlaces, path: string): string =>
  places.get(rootName.exec(path)?.[0] ?? path) ?? path

/** The refusal of a chat as that of its request. */
export const placeRefusal =
  (places: ChatPlaces) =>
  (error: InvalidRequest): InvalidRequest => {
    const { faults, message, param } = error
    const move = (fault: FieldFault): FieldFault => ({
      ...fault,
      path: placeOf(places, fault.path)
    })
    if (faults !== undefined) return invalidFields(faults.map(move))
    const prefix = `${param}: `
    if (typeof param !== "string" || !message.startsWith(prefix)) return error
    return invalidFields([move({ path: param, message: message.slice(prefix.length) })])
  }

/** A vendor's refusal of a chat as that of its request. */
export const placeVendorRefusal =
  (places: ChatPlaces) =>
  (failure: VendorFailure): VendorFailure =>
    failure._tag === "VendorRefused" && failure.param !== undefined
      ? new VendorRefused({
          ...failure,
          message: failure.message,
          param: placeOf(places, failure.param)
        })
      : failure

const decodeChat = Schema.decodeUnknownResult(ChatBody)

/** Decodes the chat of a request. */
export const decodeTranslated = (
  chat: unknown,
  places: ChatPlaces
): Result.Result<ChatBody, InvalidRequest> =>
  Result.mapError(decodeChat(chat), ({ issue }) =>
    placeRefusal(places)(invalidFields(issueFaults(issue)))
  )
