/** The sentences of the checkout. Words in braces are put in by the page; every language has the same ones. */
export const en = {
  language: 'Language',
  changeLanguage: 'Change',
  offline: 'You are offline. This page goes on when the connection is back.',
  reconnecting: 'The connection is lost. Trying again…',

  sandbox: 'Sandbox: no real money moves here.',
  simulate: 'Simulate a payment',
  simulatePaid: 'Pay',
  simulateUnderpaid: 'Pay too little',
  simulateOverpaid: 'Pay too much',
  simulateLate: 'Pay too late',
  simulateWrongToken: 'Send the wrong token',

  waitingTitle: 'Pay {amount} to {merchant}',
  onlyOn: 'Send only {currency} on {network}. Anything else may be lost.',
  exactAmount: 'Exact amount',
  payBy: 'Pay by',
  minutesLeft: { one: '{count} minute left to pay', other: '{count} minutes left to pay' },
  timeUpTitle: 'The time to pay is up',
  timeUpLead: 'Do not send now. If you have already sent it, wait here; it shows as soon as the network has it.',
  timeUpFunds: '{received} of {amount} has arrived so far.',

  waysToPay: 'Ways to pay',
  wallet: 'Wallet',
  qrCode: 'QR code',
  address: 'Address',
  walletLead: 'Choose your wallet and confirm the payment there.',
  walletOpen: 'Open in a wallet app',
  walletNone:
    'No wallet was found in this browser. Open the payment in a wallet app, scan the QR code, or copy the address.',
  walletConnecting: 'Connecting to your wallet…',
  walletSwitching: 'Switching your wallet to {network}…',
  walletConfirm: 'Confirm the payment in your wallet.',
  walletSent: 'Sent. This page shows it as soon as the network has it.',
  walletRefused: 'You declined in your wallet. Nothing was sent.',
  walletChainUnknown: 'Your wallet does not know {network}. Add it there and try again, or pay by QR code or address.',
  walletInsufficient: 'This wallet does not hold enough {currency}, or not enough {coin} for the network fee.',
  walletFailed: 'The wallet could not send the payment. Look at its history before you try again.',
  walletReverted: 'The network refused this transaction, and nothing was paid. You can try again.',
  walletUnseen:
    'The network has not shown this transaction for some minutes. Look at the history of your wallet: wait if it is still pending there, and try again only if it failed or is gone.',
  qrRequest: 'Payment request',
  qrRequestHint: 'Fills in the amount, the network and the address.',
  qrAddress: 'Address only',
  qrAddressHint: 'If your wallet does not read the other code. Enter {remaining} on {network} yourself.',
  addressLead: 'Send exactly {remaining} on {network} to this address:',
  exchangeHint: 'Paying from an exchange? Its fee must not come out of the amount: exactly {remaining} has to arrive.',

  copy: 'Copy',
  copied: 'Copied',
  copyAmount: 'Copy the amount',
  copyAddress: 'Copy the address',
  copyPaymentId: 'Copy the payment ID',

  underpaidTitle: 'Pay the remaining {remaining} to {merchant}',
  underpaidLead: '{received} of {amount} has arrived. Send the rest before the time is up.',
  received: 'Received',
  remaining: 'Remaining',

  confirmingTitle: 'Your payment is being confirmed',
  confirmingLead:
    '{received} for {merchant} has reached the network. You may close this page: {merchant} will know when it is final.',
  confirmingCount: 'Confirming {current} of {required}',
  confirmingFinality: 'Waiting until {network} makes it final',
  expectedTime: 'Expected time: {duration}',
  expectedSoon: 'Expected time: less than a minute',
  expectedFinality: 'It takes from a few seconds to half an hour, depending on the network.',

  completedTitle: 'You paid {received} to {merchant}',
  completedLead: 'The payment is complete.',
  overpaidLead:
    'The payment is complete. You sent {extra} more than was asked: please ask {merchant} about the difference.',
  receipt: 'Receipt',
  amountPaid: 'Amount paid',
  amountAsked: 'Amount asked',
  paidTo: 'Paid to',
  paidAt: 'Date',
  print: 'Print',
  goingBack: 'Going back in {count} s',
  stayHere: 'Stay here',
  backTo: 'Back to {merchant}',

  expiredTitle: 'This payment has expired',
  expiredLead: 'Do not send now. To pay {amount}, ask {merchant} for a new payment.',
  expiredAt: 'Expired',
  alreadySent: 'Already sent?',
  alreadySentHelp:
    'Wait here: it shows as soon as the network has it. If nothing changes, give {merchant} the payment ID and your transaction.',

  expiredWithFundsTitle: 'Your money arrived, but the payment has expired',
  lateLead: '{received} arrived after the time was up.',
  tooLittleLead: 'Only {received} of {amount} arrived before the time was up.',
  askMerchant: 'Do not send more. Ask {merchant} to accept or return it, and give them the payment ID.',

  canceledTitle: 'This payment was canceled',
  canceledLead: '{merchant} has called it off. Do not send now.',
  canceledFunds: '{received} has arrived all the same.',

  reversedTitle: 'The network took your payment back',
  reversedLead:
    'The blocks of {network} that held it were replaced after it was complete. It may return by itself: do not send again. Ask {merchant}, and give them the payment ID.',

  strays:
    'Another token, or money on another network, has reached this address. It does not count, and only {merchant} can return it.',
  slowNetwork: '{network} is answering slowly. What you have sent may take longer to show: do not send it twice.',

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
  unknownLead: 'Check the link, or ask whoever gave it to you.',
  blockedTitle: 'Do not pay',
  blockedLead:
    'The address of this payment failed a check and is not shown. Do not send anything, and tell the merchant.',
  unavailableTitle: 'This page cannot be shown right now',
  unavailableLead: 'Try again in a moment. If you have already paid, do not pay again.',
  tryAgain: 'Try again',
} as const;
