/**
 * The console's texts in the reader's language: English, or Chinese where the reader has chosen or
 * prefers it.
 */
import i18next from "i18next"
import { initReactI18next } from "react-i18next"
import { en } from "./en/index.ts"

export const languages = { en: "English", zh: "中文" } as const
export type Language = keyof typeof languages

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell"
    resources: typeof en
  }
}

const PLACE = "media-gateway-language"

const isLanguage = (text: string | null): text is Language => text !== null && text in languages

const preferred = (): Language => {
  const kept = localStorage.getItem(PLACE)
  if (isLanguage(kept)) return kept
  const asked = navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage)
  return asked ?? "en"
}

const load = async (language: Language): Promise<void> => {
  if (language === "en" || i18next.hasResourceBundle(language, "shell")) return
  const { zh } = await import("./zh/index.ts")
  for (const [room, texts] of Object.entries(zh)) i18next.addResourceBundle(language, room, texts)
}

const speak = (language: string): void => {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en"
}

export const startWords = async (): Promise<void> => {
  const language = preferred()
  i18next.on("languageChanged", speak)
  await i18next.use(initReactI18next).init({
    lng: "en",
    fallbackLng: "en",
    resources: { en },
    defaultNS: "shell",
    // React escapes texts itself.
    interpolation: { escapeValue: false }
  })
  await load(language)
  await i18next.changeLanguage(language)
}

export const choose = async (language: Language): Promise<void> => {
  localStorage.setItem(PLACE, language)
  await load(language)
  await i18next.changeLanguage(language)
}
