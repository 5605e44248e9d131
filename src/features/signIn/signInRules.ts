/**
 * The rules by which people get rights: `subject=right`, where the subject is a group, an e-mail
 * address or `@` and a domain. The rules are applied at each use of a session.
 */
import type { Role } from "../../services/operators/Operators.ts"
import type { Person } from "../../services/Sessions.ts"

export interface Rule<A> {
  readonly subject: string
  readonly right: A
}

export interface Rights {
  readonly role: Role | null
  readonly organizationId: string | null
}

/** The roles from the highest to the lowest. */
const ranking: ReadonlyArray<Role> = ["owner", "operator", "finance", "viewer"]

/** Parses `a=b,c=d`; null where a part has another form. A group may contain `=`. */
export const parseRules = (text: string): ReadonlyArray<Rule<string>> | null => {
  const rules: Array<Rule<string>> = []
  for (const part of text.split(",")) {
    if (part.trim() === "") continue
    const [, subject, right] = /^\s*(\S.*?)\s*=\s*([^=\s]+)\s*$/.exec(part) ?? []
    if (subject === undefined || right === undefined) return null
    rules.push({ subject, right })
  }
  return rules
}

/**
 * Whether the rule is about the person. A subject with `@` is an address or a domain and never a
 * group, so that nobody gets a right by the name of a group.
 */
const isAbout = (person: Pick<Person, "email" | "groups">, subject: string): boolean => {
  if (!subject.includes("@")) return person.groups.includes(subject)
  if (person.email === null) return false
  const expected = subject.toLowerCase()
  return expected.startsWith("@")
    ? person.email.slice(person.email.lastIndexOf("@")) === expected
    : person.email === expected
}

/** The highest role of all rules about the person, and the organisation of the first such rule. */
export const rightsOf = (
  rules: {
    readonly roles: ReadonlyArray<Rule<Role>>
    readonly organizations: ReadonlyArray<Rule<string>>
  },
  person: Pick<Person, "email" | "groups">
): Rights => {
  const matches = <A>(all: ReadonlyArray<Rule<A>>) =>
    all.filter(({ subject }) => isAbout(person, subject)).map(({ right }) => right)
  const roles = matches(rules.roles)
  return {
    role: ranking.find((role) => roles.includes(role)) ?? null,
    organizationId: matches(rules.organizations)[0] ?? null
  }
}
