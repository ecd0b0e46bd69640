import type { Catalogue } from '../catalogue.ts';

export const ru: Catalogue = {
  language: 'Язык',
  changeLanguage: 'Сменить',
  offline: 'Нет подключения к сети. Страница продолжит работу, когда связь восстановится.',
  reconnecting: 'Связь потеряна. Пробуем снова…',

  sandbox: 'Песочница: настоящие деньги здесь не переводятся.',
  simulate: 'Имитировать платёж',
  simulatePaid: 'Оплатить',
  simulateUnderpaid: 'Заплатить меньше',
  simulateOverpaid: 'Заплатить больше',
  simulateLate: 'Заплатить поздно',
  simulateWrongToken: 'Отправить не тот токен',

  waitingTitle: 'Оплатите {amount} в пользу {merchant}',
  onlyOn: 'Отправляйте только {currency} в сети {network}. Всё остальное может быть потеряно.',
  exactAmount: 'Точная сумма',
  payBy: 'Оплатить до',
  minutesLeft: {
    one: 'На оплату осталась {count} минута',
    few: 'На оплату осталось {count} минуты',
    many: 'На оплату осталось {count} минут',
    other: 'На оплату осталось {count} минуты',
  },
  timeUpTitle: 'Время на оплату вышло',
  timeUpLead:
    'Ничего не отправляйте. Если вы уже отправили платёж, подождите здесь: он появится, как только попадёт в сеть.',
  timeUpFunds: 'Пока поступило {received} из {amount}.',

  waysToPay: 'Способы оплаты',
  wallet: 'Кошелёк',
  qrCode: 'QR-код',
  address: 'Адрес',
  walletLead: 'Выберите кошелёк и подтвердите в нём платёж.',
  walletOpen: 'Открыть в приложении кошелька',
  walletNone:
    'В этом браузере кошелёк не найден. Откройте платёж в приложении кошелька, отсканируйте QR-код или скопируйте адрес.',
  walletConnecting: 'Подключаемся к кошельку…',
  walletSwitching: 'Переключаем кошелёк на сеть {network}…',
  walletConfirm: 'Подтвердите платёж в кошельке.',
  walletSent: 'Отправлено. Платёж появится на этой странице, как только попадёт в сеть.',
  walletRefused: 'Вы отклонили запрос в кошельке. Ничего не отправлено.',
  walletChainUnknown:
    'Ваш кошелёк не знает сеть {network}. Добавьте её в кошельке и попробуйте снова или оплатите по QR-коду или адресу.',
  walletInsufficient: 'В этом кошельке не хватает {currency} или {coin} на комиссию сети.',
  walletFailed: 'Кошелёк не смог отправить платёж. Прежде чем пробовать снова, проверьте его историю.',
  qrRequest: 'Запрос на оплату',
  qrRequestHint: 'Заполняет сумму, сеть и адрес.',
  qrAddress: 'Только адрес',
  qrAddressHint: 'Если ваш кошелёк не читает другой код. Сумму {remaining} и сеть {network} укажите сами.',
  addressLead: 'Отправьте ровно {remaining} в сети {network} на этот адрес:',
  exchangeHint: 'Платите с биржи? Её комиссия не должна вычитаться из суммы: поступить должно ровно {remaining}.',

  copy: 'Копировать',
  copied: 'Скопировано',
  copyAmount: 'Копировать сумму',
  copyAddress: 'Копировать адрес',
  copyPaymentId: 'Копировать номер платежа',

  underpaidTitle: 'Доплатите {remaining} в пользу {merchant}',
  underpaidLead: 'Поступило {received} из {amount}. Отправьте остаток, пока не вышло время.',
  received: 'Получено',
  remaining: 'Осталось',

  confirmingTitle: 'Ваш платёж подтверждается',
  confirmingLead:
    'Платёж {received} в пользу {merchant} попал в сеть. Страницу можно закрыть: {merchant} узнает, когда платёж станет окончательным.',
  confirmingCount: 'Подтверждение {current} из {required}',
  confirmingFinality: 'Ждём, пока сеть {network} сделает платёж окончательным',
  expectedTime: 'Ожидаемое время: {duration}',
  expectedSoon: 'Ожидаемое время: меньше минуты',
  expectedFinality: 'Это занимает от нескольких секунд до получаса в зависимости от сети.',

  completedTitle: 'Вы заплатили {received} в пользу {merchant}',
  completedLead: 'Платёж завершён.',
  overpaidLead:
    'Платёж завершён. Вы отправили на {extra} больше, чем требовалось: по поводу разницы обратитесь к продавцу ({merchant}).',
  receipt: 'Квитанция',
  amountPaid: 'Оплаченная сумма',
  amountAsked: 'Запрошенная сумма',
  paidTo: 'Получатель',
  paidAt: 'Дата',
  print: 'Печать',
  goingBack: 'Возврат через {count} с',
  stayHere: 'Остаться здесь',
  backTo: 'Вернуться на сайт {merchant}',

  expiredTitle: 'Срок этого платежа истёк',
  expiredLead: 'Ничего не отправляйте. Чтобы оплатить {amount}, попросите у продавца ({merchant}) новый платёж.',
  expiredAt: 'Срок истёк',
  alreadySent: 'Уже отправили?',
  alreadySentHelp:
    'Подождите здесь: платёж появится, как только попадёт в сеть. Если ничего не изменится, сообщите продавцу ({merchant}) номер платежа и вашу транзакцию.',

  expiredWithFundsTitle: 'Деньги поступили, но срок платежа истёк',
  lateLead: '{received} поступило после окончания срока.',
  tooLittleLead: 'До окончания срока поступило только {received} из {amount}.',
  askMerchant:
    'Больше ничего не отправляйте. Попросите продавца ({merchant}) принять или вернуть деньги и назовите номер платежа.',

  canceledTitle: 'Этот платёж отменён',
  canceledLead: 'Продавец ({merchant}) отменил его. Ничего не отправляйте.',
  canceledFunds: 'Тем не менее поступило {received}.',

  reversedTitle: 'Сеть отменила ваш платёж',
  reversedLead:
    'Блоки сети {network}, в которых он находился, были заменены после его завершения. Он может вернуться сам: не отправляйте повторно. Обратитесь к продавцу ({merchant}) и назовите номер платежа.',

  strays:
    'На этот адрес поступил другой токен или деньги из другой сети. Они не засчитываются, и вернуть их может только продавец ({merchant}).',
  slowNetwork: 'Сеть {network} отвечает медленно. Отправленное может появиться позже: не отправляйте дважды.',

  details: 'Подробности',
  paymentId: 'Номер платежа',
  network: 'Сеть',
  description: 'Описание',
  transactions: { one: 'Транзакция', few: 'Транзакции', many: 'Транзакции', other: 'Транзакции' },
  moreTransactions: { one: 'и ещё {count}', few: 'и ещё {count}', many: 'и ещё {count}', other: 'и ещё {count}' },
  transactionConfirming: 'подтверждается',
  transactionConfirmed: 'подтверждена',
  explorer: 'Открыть в обозревателе блоков',

  unknownTitle: 'Такого платежа нет',
  unknownLead: 'Проверьте ссылку или спросите того, кто вам её дал.',
  blockedTitle: 'Не платите',
  blockedLead:
    'Адрес этого платежа не прошёл проверку и поэтому не показан. Ничего не отправляйте и сообщите продавцу.',
  unavailableTitle: 'Сейчас эту страницу нельзя показать',
  unavailableLead: 'Попробуйте ещё раз чуть позже. Если вы уже заплатили, не платите повторно.',
  tryAgain: 'Попробовать снова',
};
