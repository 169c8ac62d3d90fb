"""What pages without content say: in English, and the commonest in some other languages of Europe and Asia."""

from __future__ import annotations

import re


def _phrases(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


CHALLENGE = _phrases(
    r"just a moment",
    r"checking (?:if the site|that you|your browser)",
    r"verif\w+ (?:that )?you(?:'|’)?(?:re| are) (?:a )?(?:not a )?(?:human|robot|bot)",
    r"are you (?:a )?(?:human|robot)",
    r"(?:i am|i(?:'|’)m) not a robot",
    r"(?:complete|solve|enter|fill|type|pass)\W+(?:\w+\W+){0,4}captcha",
    r"captcha (?:required|check|challenge|verification)",
    r"attention required!",
    r"ddos protection by",
    r"unusual traffic",
    r"automated (?:queries|requests|access)",
    r"enable (?:javascript and )?cookies to continue",
    r"performing security verification",
    r"security check to access",
    r"verifying you are human",
    r"pardon our interruption",
    r"access (?:to this page has been )?denied",
    r"request unsuccessful\. incapsula",
    r"bist du ein mensch",
    r"sicherheitsüberprüfung",
    r"vérifi\w+ que vous (?:êtes|n(?:'|’)êtes pas)",
    r"verifica(?:r|ndo) que (?:eres|usted es)",
    r"正在验证|人机验证|请稍候",
)
CHALLENGE_SCRIPT = _phrases(
    r"/cdn-cgi/challenge-platform",
    r"_cf_chl_opt",
    r"challenges\.cloudflare\.com",
    r"_incapsula_resource",
    r"captcha-delivery\.com",
    r"px-captcha",
    r"\bawswaf",
    r"hcaptcha\.com",
    r"recaptcha/api",
    r"geo\.captcha",
)
CONSENT = _phrases(
    r"(?:accept|allow|reject|decline|manage|use|uses|using|store|set) (?:all |our |of |the |these )*cookies",
    r"cookie (?:settings|preferences|policy|notice|consent)",
    r"we value your privacy",
    r"your privacy (?:choices|settings)",
    r"before you continue to",
    r"consent to (?:the )?(?:use|processing|storage|storing)",
    r"cookies? (?:zulassen|akzeptieren|ablehnen|verwenden)",
    r"verwende[nt] (?:wir )?cookies|cookie-einstellungen|einwilligung",
    r"(?:accepter|refuser|paramétrer|utilis\w+) (?:tous |les |des )*cookies",
    r"(?:aceptar|rechazar|utiliza\w*|configurar) (?:todas |las |los )*cookies",
    r"(?:accett\w+|rifiut\w+|utilizz\w+) (?:tutti |i |dei )*cookie",
    r"(?:alle )?cookies (?:accepteren|weigeren)",
    r"同意.{0,8}cookie|接受.{0,8}cookie|クッキー.{0,8}(?:同意|使用)",
)
LOGIN = _phrases(
    r"(?:log|sign) ?in to (?:continue|view|read|see|access)",
    r"(?:please )?(?:log|sign) ?in (?:or (?:sign up|register|create an account) )?to (?:continue|view|read|see)",
    r"you must (?:be logged in|log in|sign in)",
    r"anmelden, um",
    r"connectez-vous pour",
    r"inicia(?:r)? sesión para",
)
PAYWALL = _phrases(
    r"subscri\w+ (?:now )?to (?:continue|keep|read|unlock|access)",
    r"(?:to )?(?:continue|keep) reading[,.: ]{1,3}(?:please )?(?:subscribe|become|start|sign)",
    r"(?:this|the full|the rest of this) (?:article|content|story|post) is "
    r"(?:only |available )*(?:for|to) (?:paying |paid |our )?(?:subscribers|members)",
    r"(?:subscribers?|members?)[- ]only",
    r"already a subscriber",
    r"you(?:'|’)ve (?:reached|read) (?:your|the) .{0,30}(?:limit|free article)",
    r"start your free trial",
    r"unlock (?:this|the full) (?:article|story)",
    r"weiterlesen mit|jetzt abonnieren|nur für abonnenten",
    r"réservé aux abonnés|abonnez-vous pour",
    r"solo para suscriptores|suscríbete para",
)
ERROR_PAGE = _phrases(
    r"(?:^|\D)404(?:\D|$).{0,60}(?:not found|error|page)",
    r"page (?:was |could |can |cannot |can(?:'|’)t )*(?:not )?(?:be )?found",
    r"(?:503|502|500) (?:service|bad|internal)",
    r"service (?:temporarily )?unavailable",
    r"internal server error",
    r"seite (?:wurde )?nicht gefunden",
    r"page (?:non trouvée|introuvable)",
    r"página no encontrada",
)
SCRIPTS_WANTED = _phrases(
    r"(?:enable|activate|turn on|requires?|needs?|without) javascript",
    r"javascript (?:is|must be|to be|appears to be) (?:required|enabled|disabled|turned)",
    r"javascript (?:aktivieren|ist deaktiviert)",
    r"activer javascript",
    r"activ(?:ar|e) javascript",
    r"browser (?:is not|isn(?:'|’)t|does not) support",
)
BOILERPLATE = _phrases(
    r"all rights reserved",
    r"©|\(c\)\s*\d{4}|copyright",
    r"newsletter|subscribe|follow us",
    r"(?:sign|log) (?:in|up|out)",
    r"terms of (?:use|service)|privacy policy",
)
