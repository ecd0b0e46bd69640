import type { Catalogue } from '../catalogue.ts';

export const fr: Catalogue = {
  language: 'Langue',
  changeLanguage: 'Changer',
  offline: 'Vous êtes hors ligne. Cette page reprendra au retour de la connexion.',
  reconnecting: 'La connexion est perdue. Nouvelle tentative…',

  sandbox: 'Bac à sable : aucun argent réel ne circule ici.',
  simulate: 'Simuler un paiement',
  simulatePaid: 'Payer',
  simulateUnderpaid: 'Payer trop peu',
  simulateOverpaid: 'Payer trop',
  simulateLate: 'Payer trop tard',
  simulateWrongToken: 'Envoyer un autre jeton',

  waitingTitle: 'Payez {amount} à {merchant}',
  onlyOn: 'Envoyez uniquement des {currency} sur {network}. Tout autre envoi peut être perdu.',
  payBy: 'À payer avant',
  minutesLeft: {
    one: 'Il reste {count} minute pour payer',
    many: 'Il reste {count} minutes pour payer',
    other: 'Il reste {count} minutes pour payer',
  },
  notPayableTitle: 'Ce paiement est impossible',
  notPayableLead: 'N’envoyez rien. Adressez-vous à {merchant} en indiquant l’identifiant du paiement.',
  timeUpTitle: 'Le délai de paiement est écoulé',
  timeUpLead:
    'N’envoyez rien maintenant. Si vous avez déjà envoyé, attendez ici ; le paiement s’affichera dès qu’il sera sur le réseau.',
  timeUpFunds: 'Pour l’instant, {received} sur {amount} sont arrivés.',

  waysToPay: 'Moyens de paiement',
  wallet: 'Portefeuille',
  qrCode: 'Code QR',
  address: 'Adresse',
  walletLead: 'Choisissez votre portefeuille et confirmez-y le paiement.',
  walletApps: 'Ouvrez cette page dans votre application de portefeuille :',
  walletOpen: 'Ouvrir dans une application de portefeuille',
  walletNone:
    'Aucun portefeuille n’a été trouvé dans ce navigateur. Ouvrez le paiement dans une application de portefeuille, scannez le code QR ou copiez l’adresse.',
  walletConnecting: 'Connexion à votre portefeuille…',
  walletSwitching: 'Passage de votre portefeuille sur {network}…',
  walletConfirm: 'Confirmez le paiement dans votre portefeuille.',
  walletSent: 'Envoyé. Le paiement s’affichera ici dès qu’il sera sur le réseau.',
  walletRefused: 'Votre portefeuille n’a pas approuvé ce paiement. Rien n’a été envoyé.',
  walletChainUnknown:
    'Votre portefeuille n’a pas pu passer à {network}. Ajoutez-y ce réseau et réessayez, ou payez par code QR ou adresse.',
  walletInsufficient:
    'Ce portefeuille ne contient pas assez de {currency}, ou pas assez de {coin} pour les frais de réseau.',
  walletFailed: 'Le portefeuille n’a pas pu envoyer le paiement. Consultez son historique avant de réessayer.',
  walletReverted:
    'Le réseau a rejeté cette transaction. Rien n’a été payé, mais les frais de réseau ont pu être prélevés. Vous pouvez réessayer.',
  walletUnseen:
    'Cette transaction n’apparaît toujours pas sur le réseau après quelques minutes. Consultez l’historique de votre portefeuille : attendez si elle y est encore en cours, et réessayez seulement si elle a échoué ou disparu.',
  qrRequest: 'Demande de paiement',
  qrRequestHint: 'Remplit le montant, le réseau et l’adresse.',
  qrAddress: 'Adresse seule',
  qrAddressHint:
    'Si votre portefeuille ne lit pas l’autre code. Saisissez vous-même {remaining} et le réseau {network}.',
  addressLead: 'Envoyez exactement {remaining} sur {network} à cette adresse :',
  exchangeHint:
    'Vous payez depuis une plateforme d’échange ? Ses frais ne doivent pas être déduits du montant : il doit arriver exactement {remaining}.',

  copy: 'Copier',
  copied: 'Copié',
  copyAmount: 'Copier le montant',
  copyAddress: 'Copier l’adresse',
  copyPaymentId: 'Copier l’identifiant du paiement',

  underpaidTitle: 'Payez les {remaining} restants à {merchant}',
  underpaidLead: '{received} sur {amount} sont arrivés. Envoyez le reste avant la fin du délai.',
  received: 'Reçu',

  confirmingTitle: 'Votre paiement est en cours de confirmation',
  confirmingLead:
    '{received} pour {merchant} sont arrivés sur le réseau. Vous pouvez fermer cette page : {merchant} saura quand le paiement sera définitif.',
  confirmingCount: 'Confirmation {current} sur {required}',
  confirmingFinality: 'En attente que {network} rende le paiement définitif',
  expectedTime: 'Durée estimée : {duration}',
  expectedSoon: 'Durée estimée : moins d’une minute',
  expectedFinality: 'Cela prend de quelques secondes à une demi-heure, selon le réseau.',

  completedTitle: 'Vous avez payé {received} à {merchant}',
  completedLead: 'Le paiement est terminé.',
  overpaidLead:
    'Le paiement est terminé. Vous avez envoyé {extra} de plus que demandé : adressez-vous à {merchant} pour la différence.',
  receipt: 'Reçu',
  amountPaid: 'Montant payé',
  amountAsked: 'Montant demandé',
  paidTo: 'Payé à',
  paidAt: 'Date',
  print: 'Imprimer',
  goingBack: 'Retour dans {count} s',
  stayHere: 'Rester ici',
  backTo: 'Retour à {merchant}',

  expiredTitle: 'Ce paiement a expiré',
  expiredLead: 'N’envoyez rien maintenant. Pour payer {amount}, demandez un nouveau paiement à {merchant}.',
  expiredAt: 'Expiré',
  alreadySent: 'Déjà envoyé ?',
  alreadySentHelp:
    'Attendez ici : le paiement s’affichera dès qu’il sera sur le réseau. Si rien ne change, donnez à {merchant} l’identifiant du paiement et votre transaction.',

  expiredWithFundsTitle: 'Votre argent est arrivé, mais le paiement a expiré',
  lateLead: '{received} sont arrivés après la fin du délai.',
  lateInPartLead: '{received} sont arrivés, dont une partie après la fin du délai.',
  tooLittleLead: 'Seuls {received} sur {amount} sont arrivés à temps.',
  askMerchant:
    'N’envoyez rien de plus. Demandez à {merchant} d’accepter ou de rendre cette somme, en donnant l’identifiant du paiement.',
  contact: 'Contacter {merchant}',

  canceledTitle: 'Ce paiement a été annulé',
  canceledLead: '{merchant} l’a annulé. N’envoyez rien maintenant.',
  canceledFunds: '{received} sont tout de même arrivés.',

  reversedTitle: 'Le réseau a annulé votre paiement',
  reversedLead:
    'Les blocs de {network} qui le contenaient ont été remplacés après qu’il a été terminé. Il peut revenir de lui-même : n’envoyez rien de nouveau. Adressez-vous à {merchant} en donnant l’identifiant du paiement.',

  strays:
    'Un autre jeton, ou de l’argent d’un autre réseau, est arrivé à cette adresse. Il ne compte pas, et seul {merchant} peut le rendre.',
  slowNetwork: 'En ce moment, les paiements sur {network} peuvent s’afficher plus tard. Ne payez pas deux fois.',

  details: 'Détails',
  paymentId: 'Identifiant du paiement',
  network: 'Réseau',
  description: 'Description',
  transactions: { one: 'Transaction', many: 'Transactions', other: 'Transactions' },
  moreTransactions: { one: 'et {count} autre', many: 'et {count} autres', other: 'et {count} autres' },
  transactionConfirming: 'en cours de confirmation',
  transactionConfirmed: 'confirmée',
  explorer: 'Voir dans l’explorateur de blocs',

  unknownTitle: 'Ce paiement n’existe pas',
  unknownLead: 'Vérifiez le lien ou demandez à la personne qui vous l’a donné.',
  blockedTitle: 'Ne payez pas',
  blockedLead:
    'L’adresse de ce paiement n’a pas passé un contrôle et n’est pas affichée. N’envoyez rien et prévenez le commerçant.',
  unavailableTitle: 'Cette page ne peut pas être affichée pour le moment',
  unavailableLead: 'Réessayez dans un instant. Si vous avez déjà payé, ne payez pas une seconde fois.',
  tryAgain: 'Réessayer',
};
