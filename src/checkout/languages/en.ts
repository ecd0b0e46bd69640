/** The sentences of the checkout. Words in braces are placeholders. Every language has the same ones. */
export const en = {
  language: 'Language',
  changeLanguage: 'Change',
  offline: 'You are offline. This page updates when you are online again.',
  reconnecting: 'Connection lost. Trying again…',

  sandbox: 'Sandbox: no real money is used.',
  simulate: 'Simulate a payment',
  simulatePaid: 'Pay',
  simulateUnderpaid: 'Pay too little',
  simulateOverpaid: 'Pay too much',
  simulateLate: 'Pay too late',
  simulateWrongToken: 'Send the wrong token',

  waitingTitle: 'Pay {amount} to {merchant}',
  onlyOn: 'Send only {currency} on {network}. Anything else may be lost.',
  payBy: 'Pay by',
  minutesLeft: { one: '{count} minute left to pay', other: '{count} minutes left to pay' },
  notPayableTitle: 'This payment cannot be made',
  notPayableLead: 'Do not send anything. Contact {merchant} and give them the payment ID.',
  timeUpTitle: 'The time to pay is up',
  timeUpLead:
    'Do not send money now. If you have already paid, wait here: your payment appears when the network has it.',
  timeUpFunds: '{received} of {amount} has arrived so far.',

  waysToPay: 'Ways to pay',
  wallet: 'Wallet',
  qrCode: 'QR code',
  address: 'Address',
  walletLead: 'Choose your wallet and confirm the payment there.',
  walletApps: 'Open this page in your wallet app:',
  walletOpen: 'Open in a wallet app',
  walletNone:
    'No wallet was found in this browser. Open the payment in a wallet app, scan the QR code, or copy the address.',
  walletConnecting: 'Connecting to your wallet…',
  walletSwitching: 'Switching your wallet to {network}…',
  walletConfirm: 'Confirm the payment in your wallet.',
  walletSent: 'Sent. Your payment appears here when the network has it.',
  walletRefused: 'Your wallet did not approve this payment. Nothing was sent.',
  walletChainUnknown:
    'Your wallet could not switch to {network}. Add the network there and try again, or pay by QR code or address.',
  walletInsufficient: 'This wallet does not hold enough {currency}, or not enough {coin} for the network fee.',
  walletFailed: 'The wallet could not send the payment. Check its history before you try again.',
  walletReverted:
    'The network rejected this transaction. Nothing was paid, but the network fee may have been charged. You can try again.',
  walletUnseen:
    'The network has not shown this transaction for some minutes. Check your wallet. If the transaction is pending, wait. Try again only if it failed or is missing.',
  qrRequest: 'Payment request',
  qrRequestHint: 'Contains the address, the network and the amount.',
  qrAddress: 'Address only',
  qrAddressHint: 'For wallets that cannot read the other code. Enter {remaining} and choose {network} yourself.',
  addressLead: 'Send exactly {remaining} on {network} to this address:',
  exchangeHint: 'Paying from an exchange? Exactly {remaining} must arrive after its fee.',

  copy: 'Copy',
  copied: 'Copied',
  copyAmount: 'Copy the amount',
  copyAddress: 'Copy the address',
  copyPaymentId: 'Copy the payment ID',

  underpaidTitle: 'Pay the remaining {remaining} to {merchant}',
  underpaidLead: '{received} of {amount} has arrived. Send the rest before the time is up.',
  received: 'Received',

  confirmingTitle: 'Your payment is being confirmed',
  confirmingLead:
    '{received} for {merchant} has reached the network. You may close this page. {merchant} is told when the payment is final.',
  confirmingCount: 'Confirming {current} of {required}',
  confirmingFinality: 'Waiting for {network} to make the payment final',
  expectedTime: 'Expected time: {duration}',
  expectedSoon: 'Expected time: less than a minute',
  expectedFinality: 'This takes a few seconds to half an hour, depending on the network.',

  completedTitle: 'You paid {received} to {merchant}',
  completedLead: 'The payment is complete.',
  overpaidLead: 'The payment is complete. You sent {extra} too much. Contact {merchant} about the difference.',
  receipt: 'Receipt',
  amountPaid: 'Amount paid',
  amountAsked: 'Amount requested',
  paidTo: 'Paid to',
  paidAt: 'Date',
  print: 'Print',
  goingBack: 'Returning in {count} s',
  stayHere: 'Stay here',
  backTo: 'Back to {merchant}',

  expiredTitle: 'This payment has expired',
  expiredLead: 'Do not send money now. To pay {amount}, ask {merchant} for a new payment.',
  expiredAt: 'Expired',
  alreadySent: 'Already paid?',
  alreadySentHelp:
    'Wait here: your payment appears when the network has it. If nothing changes, give {merchant} the payment ID and the transaction ID.',

  expiredWithFundsTitle: 'Your money arrived, but the payment has expired',
  lateLead: '{received} arrived after the time was up.',
  lateInPartLead: '{received} arrived, part of it after the time was up.',
  tooLittleLead: 'Only {received} of {amount} arrived before the time was up.',
  askMerchant: 'Do not send more. Ask {merchant} to accept or return it. Give them the payment ID.',
  contact: 'Contact {merchant}',

  canceledTitle: 'This payment was canceled',
  canceledLead: '{merchant} canceled this payment. Do not send money.',
  canceledFunds: 'However, {received} has arrived.',

  reversedTitle: 'The network reversed your payment',
  reversedLead:
    '{network} replaced the blocks that contained your payment. Your payment may come back by itself. Do not pay again. Contact {merchant} and give them the payment ID.',

  strays:
    'Another token, or money on another network, has arrived at this address. It does not count. Only {merchant} can return it.',
  slowNetwork: 'Payments on {network} may take longer to appear at the moment. Do not pay twice.',

  details: 'Details',
  paymentId: 'Payment ID',
  network: 'Network',
  description: 'Description',
  transactions: { one: 'Transaction', other: 'Transactions' },
  moreTransactions: { one: 'and {count} more', other: 'and {count} more' },
  transactionConfirming: 'confirming',
  transactionConfirmed: 'confirmed',
  explorer: 'View in the block explorer',

  unknownTitle: 'There is no such payment',
  unknownLead: 'Check the link, or ask the person who sent it to you.',
  blockedTitle: 'Do not pay',
  blockedLead: 'The address of this payment failed a check and is not shown. Do not send anything. Tell the merchant.',
  unavailableTitle: 'This page cannot be shown right now',
  unavailableLead: 'Try again in a moment. If you have already paid, do not pay again.',
  tryAgain: 'Try again',
} as const;
