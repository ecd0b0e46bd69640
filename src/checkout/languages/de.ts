import type { Catalogue } from '../catalogue.ts';

export const de: Catalogue = {
  language: 'Sprache',
  changeLanguage: 'Wechseln',
  offline: 'Sie sind offline. Sobald die Verbindung wieder da ist, geht es hier weiter.',
  reconnecting: 'Die Verbindung ist unterbrochen. Neuer Versuch …',

  sandbox: 'Sandbox: Hier fließt kein echtes Geld.',
  simulate: 'Zahlung simulieren',
  simulatePaid: 'Bezahlen',
  simulateUnderpaid: 'Zu wenig zahlen',
  simulateOverpaid: 'Zu viel zahlen',
  simulateLate: 'Zu spät zahlen',
  simulateWrongToken: 'Falschen Token senden',

  waitingTitle: '{amount} an {merchant} zahlen',
  onlyOn: 'Senden Sie nur {currency} über {network}. Alles andere kann verloren gehen.',
  payBy: 'Zahlbar bis',
  minutesLeft: { one: 'Noch {count} Minute zum Bezahlen', other: 'Noch {count} Minuten zum Bezahlen' },
  notPayableTitle: 'Diese Zahlung ist nicht möglich',
  notPayableLead: 'Senden Sie nichts. Wenden Sie sich mit der Zahlungs-ID an {merchant}.',
  timeUpTitle: 'Die Zeit zum Zahlen ist abgelaufen',
  timeUpLead:
    'Senden Sie jetzt nichts mehr. Falls Sie schon gesendet haben, warten Sie hier; die Zahlung erscheint, sobald sie im Netzwerk ist.',
  timeUpFunds: 'Bisher sind {received} von {amount} angekommen.',

  waysToPay: 'Zahlungswege',
  wallet: 'Wallet',
  qrCode: 'QR-Code',
  address: 'Adresse',
  walletLead: 'Wählen Sie Ihre Wallet und bestätigen Sie die Zahlung dort.',
  walletApps: 'Öffnen Sie diese Seite in Ihrer Wallet-App:',
  walletOpen: 'In einer Wallet-App öffnen',
  walletNone:
    'In diesem Browser wurde keine Wallet gefunden. Öffnen Sie die Zahlung in einer Wallet-App, scannen Sie den QR-Code oder kopieren Sie die Adresse.',
  walletConnecting: 'Verbindung mit Ihrer Wallet wird hergestellt …',
  walletSwitching: 'Ihre Wallet wechselt zu {network} …',
  walletConfirm: 'Bestätigen Sie die Zahlung in Ihrer Wallet.',
  walletSent: 'Gesendet. Die Zahlung erscheint hier, sobald sie im Netzwerk ist.',
  walletRefused: 'Ihre Wallet hat diese Zahlung nicht freigegeben. Es wurde nichts gesendet.',
  walletChainUnknown:
    'Ihre Wallet konnte nicht zu {network} wechseln. Fügen Sie das Netzwerk dort hinzu und versuchen Sie es erneut, oder zahlen Sie per QR-Code oder Adresse.',
  walletInsufficient: 'In dieser Wallet ist nicht genug {currency} oder nicht genug {coin} für die Netzwerkgebühr.',
  walletFailed:
    'Die Wallet konnte die Zahlung nicht senden. Sehen Sie in ihrem Verlauf nach, bevor Sie es erneut versuchen.',
  walletReverted:
    'Das Netzwerk hat diese Transaktion abgelehnt. Es wurde nichts gezahlt, die Netzwerkgebühr kann aber angefallen sein. Sie können es erneut versuchen.',
  walletUnseen:
    'Diese Transaktion ist seit einigen Minuten nicht im Netzwerk zu sehen. Sehen Sie im Verlauf Ihrer Wallet nach: Warten Sie, wenn sie dort noch aussteht, und versuchen Sie es nur dann erneut, wenn sie fehlgeschlagen oder verschwunden ist.',
  qrRequest: 'Zahlungsanforderung',
  qrRequestHint: 'Füllt Betrag, Netzwerk und Adresse aus.',
  qrAddress: 'Nur Adresse',
  qrAddressHint:
    'Falls Ihre Wallet den anderen Code nicht lesen kann. Geben Sie {remaining} und das Netzwerk {network} selbst ein.',
  addressLead: 'Senden Sie genau {remaining} über {network} an diese Adresse:',
  exchangeHint:
    'Sie zahlen von einer Börse aus? Deren Gebühr darf nicht vom Betrag abgehen: Es müssen genau {remaining} ankommen.',

  copy: 'Kopieren',
  copied: 'Kopiert',
  copyAmount: 'Betrag kopieren',
  copyAddress: 'Adresse kopieren',
  copyPaymentId: 'Zahlungs-ID kopieren',

  underpaidTitle: 'Restliche {remaining} an {merchant} zahlen',
  underpaidLead: '{received} von {amount} sind angekommen. Senden Sie den Rest, bevor die Zeit abläuft.',
  received: 'Erhalten',

  confirmingTitle: 'Ihre Zahlung wird bestätigt',
  confirmingLead:
    '{received} für {merchant} sind im Netzwerk angekommen. Sie können diese Seite schließen: {merchant} erfährt, wenn die Zahlung endgültig ist.',
  confirmingCount: 'Bestätigung {current} von {required}',
  confirmingFinality: 'Warten, bis die Zahlung auf {network} endgültig ist',
  expectedTime: 'Voraussichtliche Dauer: {duration}',
  expectedSoon: 'Voraussichtliche Dauer: weniger als eine Minute',
  expectedFinality: 'Das dauert je nach Netzwerk wenige Sekunden bis zu einer halben Stunde.',

  completedTitle: 'Sie haben {received} an {merchant} gezahlt',
  completedLead: 'Die Zahlung ist abgeschlossen.',
  overpaidLead:
    'Die Zahlung ist abgeschlossen. Sie haben {extra} mehr gesendet als verlangt: Bitte wenden Sie sich wegen der Differenz an {merchant}.',
  receipt: 'Beleg',
  amountPaid: 'Gezahlter Betrag',
  amountAsked: 'Verlangter Betrag',
  paidTo: 'Empfänger',
  paidAt: 'Datum',
  print: 'Drucken',
  goingBack: 'Zurück in {count} s',
  stayHere: 'Hier bleiben',
  backTo: 'Zurück zu {merchant}',

  expiredTitle: 'Diese Zahlung ist abgelaufen',
  expiredLead:
    'Senden Sie jetzt nichts mehr. Um {amount} zu zahlen, bitten Sie {merchant} um eine neue Zahlungsanforderung.',
  expiredAt: 'Abgelaufen',
  alreadySent: 'Schon gesendet?',
  alreadySentHelp:
    'Warten Sie hier: Die Zahlung erscheint, sobald sie im Netzwerk ist. Wenn sich nichts ändert, nennen Sie {merchant} die Zahlungs-ID und Ihre Transaktion.',

  expiredWithFundsTitle: 'Ihr Geld ist angekommen, aber die Zahlung ist abgelaufen',
  lateLead: '{received} sind nach Ablauf der Zeit angekommen.',
  lateInPartLead: '{received} sind angekommen, ein Teil davon nach Ablauf der Zeit.',
  tooLittleLead: 'Nur {received} von {amount} sind rechtzeitig angekommen.',
  askMerchant:
    'Senden Sie nichts mehr. Bitten Sie {merchant}, das Geld anzunehmen oder zurückzugeben, und nennen Sie die Zahlungs-ID.',
  contact: '{merchant} kontaktieren',

  canceledTitle: 'Diese Zahlung wurde storniert',
  canceledLead: '{merchant} hat sie zurückgezogen. Senden Sie jetzt nichts mehr.',
  canceledFunds: 'Trotzdem sind {received} angekommen.',

  reversedTitle: 'Das Netzwerk hat Ihre Zahlung zurückgenommen',
  reversedLead:
    'Die Blöcke von {network}, in denen sie stand, wurden nach dem Abschluss ersetzt. Sie kann von selbst wiederkommen: Senden Sie nicht noch einmal. Wenden Sie sich an {merchant} und nennen Sie die Zahlungs-ID.',

  strays:
    'An dieser Adresse ist ein anderer Token oder Geld aus einem anderen Netzwerk angekommen. Das zählt nicht, und nur {merchant} kann es zurückgeben.',
  slowNetwork: 'Zahlungen auf {network} erscheinen zurzeit vielleicht später. Zahlen Sie nicht zweimal.',

  details: 'Einzelheiten',
  paymentId: 'Zahlungs-ID',
  network: 'Netzwerk',
  description: 'Beschreibung',
  transactions: { one: 'Transaktion', other: 'Transaktionen' },
  moreTransactions: { one: 'und {count} weitere', other: 'und {count} weitere' },
  transactionConfirming: 'wird bestätigt',
  transactionConfirmed: 'bestätigt',
  explorer: 'Im Block-Explorer ansehen',

  unknownTitle: 'Diese Zahlung gibt es nicht',
  unknownLead: 'Prüfen Sie den Link oder fragen Sie, wer ihn Ihnen gegeben hat.',
  blockedTitle: 'Nicht bezahlen',
  blockedLead:
    'Die Adresse dieser Zahlung hat eine Prüfung nicht bestanden und wird nicht angezeigt. Senden Sie nichts, und sagen Sie dem Händler Bescheid.',
  unavailableTitle: 'Diese Seite kann gerade nicht angezeigt werden',
  unavailableLead: 'Versuchen Sie es gleich noch einmal. Wenn Sie schon bezahlt haben, zahlen Sie nicht erneut.',
  tryAgain: 'Erneut versuchen',
};
