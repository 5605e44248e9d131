/** The pages that say why nobody was signed in. They load nothing and run no script. */
import { HttpServerResponse } from "effect/http"
import type { Refusal } from "./SignIn.ts"
import { CONSOLE_PATH } from "./SignInConfig.ts"

type Reason = Refusal | "unavailable"

const statuses: Readonly<Record<Reason, number>> = {
  not_begun_here: 400,
  not_proven: 400,
  no_right: 403,
  access_ended: 403,
  unavailable: 503
}

const texts = {
  en: {
    title: "Sign-in failed",
    back: "Back to sign-in",
    not_begun_here:
      "This sign-in was not begun in this browser, or it took too long. Please begin again.",
    not_proven: "The answer of your company's sign-in could not be accepted. Please begin again.",
    no_right:
      "Your account has no access to this gateway. Ask its operators to give access to your account or group.",
    access_ended: "An operator of this gateway has taken the access of your account away.",
    unavailable: "Your company's sign-in cannot be reached at the moment. Please try again later."
  },
  zh: {
    title: "登录失败",
    back: "返回登录",
    not_begun_here: "此次登录不是在当前浏览器中发起的，或耗时过长。请重新登录。",
    not_proven: "无法接受贵公司登录系统的响应。请重新登录。",
    no_right: "您的账户无权访问此网关。请联系网关的运营人员为您的账户或用户组授权。",
    access_ended: "此网关的运营人员已取消您账户的访问权限。",
    unavailable: "暂时无法连接贵公司的登录系统。请稍后再试。"
  }
} as const satisfies Record<string, Record<Reason | "title" | "back", string>>

/** The page for a reason, in the first language of the browser if the console speaks it. */
export const refusalPage = (reason: Reason, acceptLanguage = "") => {
  const language = /^\s*zh\b/i.test(acceptLanguage) ? "zh" : "en"
  const pageTexts = texts[language]
  return HttpServerResponse.text(
    `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${pageTexts.title}</title>
<h1>${pageTexts.title}</h1>
<p>${pageTexts[reason]}</p>
<p><a href="${CONSOLE_PATH}">${pageTexts.back}</a></p>
</html>
`,
    {
      status: statuses[reason],
      contentType: "text/html; charset=utf-8",
      headers: {
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer"
      }
    }
  )
}
