/** Who is there at the moment, where many come and go. */

interface Place<A> {
  readonly member: A
  index: number
}

/**
 * Like a `Set`, for members that stay for a moment in something that lives long. In V8 every table
 * that a `Set` outgrows points to the next one, so once a collection of the whole heap has made one
 * of them old, all that was ever in the later ones is kept, and copied twice, until the next such
 * collection. An array leaves nothing behind.
 */
export interface Roster<A> {
  /** Answers how to leave again; a repeat of that does nothing. */
  enter(member: A): () => void
  readonly size: () => number
  /** As they are now, in no particular order. */
  readonly present: () => ReadonlyArray<A>
}

export const makeRoster = <A>(): Roster<A> => {
  const places: Array<Place<A>> = []
  return {
    enter: (member) => {
      const place: Place<A> = { member, index: places.length }
      places.push(place)
      return () => {
        if (places[place.index] !== place) return
        const last = places.pop()
        if (last === undefined || last === place) return
        places[place.index] = last
        last.index = place.index
      }
    },
    size: () => places.length,
    present: () => places.map(({ member }) => member)
  }
}
