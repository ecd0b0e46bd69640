import type { Catalogue } from '../catalogue.ts';

export const ja: Catalogue = {
  language: '言語',
  changeLanguage: '変更',
  offline: 'オフラインです。接続が戻ると、このページは自動的に再開します。',
  reconnecting: '接続が切れました。再接続しています…',

  sandbox: 'サンドボックス：実際のお金は動きません。',
  simulate: '支払いをシミュレートする',
  simulatePaid: '支払う',
  simulateUnderpaid: '少なく支払う',
  simulateOverpaid: '多く支払う',
  simulateLate: '期限後に支払う',
  simulateWrongToken: '違うトークンを送る',

  waitingTitle: '{merchant} に {amount} を支払う',
  onlyOn: '{network} で {currency} のみを送ってください。それ以外は失われるおそれがあります。',
  payBy: '支払期限',
  minutesLeft: { other: '支払期限まであと {count} 分です' },
  notPayableTitle: 'この支払いはできません',
  notPayableLead: '何も送らないでください。支払いIDを伝えて {merchant} にお問い合わせください。',
  timeUpTitle: '支払い期限が過ぎました',
  timeUpLead:
    '今から送らないでください。すでに送った場合は、このままお待ちください。ネットワークに届きしだい表示されます。',
  timeUpFunds: 'これまでに {amount} のうち {received} が届いています。',

  waysToPay: '支払い方法',
  wallet: 'ウォレット',
  qrCode: 'QRコード',
  address: 'アドレス',
  walletLead: 'ウォレットを選び、そこで支払いを承認してください。',
  walletApps: 'このページをウォレットアプリで開く：',
  walletOpen: 'ウォレットアプリで開く',
  walletNone:
    'このブラウザーにウォレットが見つかりません。ウォレットアプリで開くか、QRコードを読み取るか、アドレスをコピーしてください。',
  walletConnecting: 'ウォレットに接続しています…',
  walletSwitching: 'ウォレットを {network} に切り替えています…',
  walletConfirm: 'ウォレットで支払いを承認してください。',
  walletSent: '送信しました。ネットワークに届きしだい、このページに表示されます。',
  walletRefused: 'ウォレットでこの支払いが承認されませんでした。何も送られていません。',
  walletChainUnknown:
    'ウォレットを {network} に切り替えられませんでした。ウォレットに追加してもう一度試すか、QRコードまたはアドレスで支払ってください。',
  walletInsufficient: 'このウォレットには {currency} が足りないか、ネットワーク手数料のための {coin} が足りません。',
  walletFailed: 'ウォレットから送信できませんでした。もう一度試す前に、ウォレットの履歴を確認してください。',
  walletReverted:
    'このトランザクションはネットワークで失敗しました。支払いは行われていませんが、ネットワーク手数料がかかった可能性があります。もう一度お試しください。',
  walletUnseen:
    'このトランザクションは数分たってもネットワークに現れていません。ウォレットの履歴を確認してください。保留中であればそのままお待ちいただき、失敗したか消えている場合にだけ、もう一度お試しください。',
  qrRequest: '支払いリクエスト',
  qrRequestHint: '金額、ネットワーク、アドレスが自動で入力されます。',
  qrAddress: 'アドレスのみ',
  qrAddressHint:
    'もう一方のコードを読み取れないウォレット用です。金額 {remaining} とネットワーク {network} はご自身で入力してください。',
  addressLead: '{network} でこのアドレスに正確に {remaining} を送ってください。',
  exchangeHint:
    '取引所から支払う場合は、手数料が金額から差し引かれないようにしてください。ちょうど {remaining} が届く必要があります。',

  copy: 'コピー',
  copied: 'コピーしました',
  copyAmount: '金額をコピー',
  copyAddress: 'アドレスをコピー',
  copyPaymentId: '支払いIDをコピー',

  underpaidTitle: '{merchant} に残りの {remaining} を支払う',
  underpaidLead: '{amount} のうち {received} が届きました。期限までに残りを送ってください。',
  received: '受取済み',

  confirmingTitle: 'お支払いを確認しています',
  confirmingLead:
    '{merchant} への {received} がネットワークに届きました。このページは閉じてもかまいません。支払いが確定すると {merchant} に通知されます。',
  confirmingCount: '承認 {current} / {required}',
  confirmingFinality: '{network} で確定するのを待っています',
  expectedTime: '予想時間：{duration}',
  expectedSoon: '予想時間：1 分未満',
  expectedFinality: 'ネットワークによって、数秒から30分ほどかかります。',

  completedTitle: '{merchant} に {received} を支払いました',
  completedLead: 'お支払いは完了しました。',
  overpaidLead:
    'お支払いは完了しました。請求額より {extra} 多く送られています。差額については {merchant} にお問い合わせください。',
  receipt: '領収書',
  amountPaid: '支払額',
  amountAsked: '請求額',
  paidTo: '支払先',
  paidAt: '日付',
  print: '印刷',
  goingBack: '{count} 秒後に戻ります',
  stayHere: 'このページにとどまる',
  backTo: '{merchant} に戻る',

  expiredTitle: 'この支払いは期限切れです',
  expiredLead: '今から送らないでください。{amount} を支払うには、{merchant} に新しい支払いを依頼してください。',
  expiredAt: '期限切れ',
  alreadySent: 'すでに送りましたか？',
  alreadySentHelp:
    'このままお待ちください。ネットワークに届きしだい表示されます。変化がなければ、支払いIDとトランザクションを {merchant} に伝えてください。',

  expiredWithFundsTitle: '入金されましたが、支払いは期限切れです',
  lateLead: '{received} が期限後に届きました。',
  lateInPartLead: '{received} が届きましたが、一部は期限後です。',
  tooLittleLead: '期限までに届いたのは {amount} のうち {received} だけです。',
  askMerchant: 'これ以上送らないでください。支払いIDを伝えて、受け入れまたは返金を {merchant} に依頼してください。',
  contact: '{merchant} に問い合わせる',

  canceledTitle: 'この支払いは取り消されました',
  canceledLead: '{merchant} が取り消しました。今から送らないでください。',
  canceledFunds: 'ただし、{received} が届いています。',

  reversedTitle: 'ネットワークによって支払いが取り消されました',
  reversedLead:
    '支払いの完了後に、それを含む {network} のブロックが置き換えられました。自動的に戻ることもあるため、もう一度送らないでください。{merchant} に支払いIDを伝えてお問い合わせください。',

  strays:
    '別のトークン、または別のネットワークのお金がこのアドレスに届きました。この支払いには数えられず、返金できるのは {merchant} だけです。',
  slowNetwork: '現在、{network} での支払いは表示されるまで時間がかかることがあります。二重に支払わないでください。',

  details: '詳細',
  paymentId: '支払いID',
  network: 'ネットワーク',
  description: '説明',
  transactions: { other: 'トランザクション' },
  moreTransactions: { other: 'ほか {count} 件' },
  transactionConfirming: '確認中',
  transactionConfirmed: '確認済み',
  explorer: 'ブロックエクスプローラーで見る',

  unknownTitle: 'この支払いは存在しません',
  unknownLead: 'リンクを確かめるか、リンクを渡した人に尋ねてください。',
  blockedTitle: '支払わないでください',
  blockedLead:
    'この支払いのアドレスは検査に合格しなかったため、表示していません。何も送らず、販売者に知らせてください。',
  unavailableTitle: '現在このページを表示できません',
  unavailableLead: 'しばらくしてからもう一度お試しください。すでに支払った場合は、もう一度支払わないでください。',
  tryAgain: 'もう一度試す',
};
