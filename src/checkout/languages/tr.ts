import type { Catalogue } from '../catalogue.ts';

export const tr: Catalogue = {
  language: 'Dil',
  changeLanguage: 'Değiştir',
  offline: 'Çevrimdışısınız. Bağlantı geri geldiğinde bu sayfa kaldığı yerden devam eder.',
  reconnecting: 'Bağlantı koptu. Yeniden deneniyor…',

  sandbox: 'Deneme ortamı: Burada gerçek para hareket etmez.',
  simulate: 'Ödeme simülasyonu',
  simulatePaid: 'Öde',
  simulateUnderpaid: 'Eksik öde',
  simulateOverpaid: 'Fazla öde',
  simulateLate: 'Geç öde',
  simulateWrongToken: 'Yanlış token gönder',

  waitingTitle: '{merchant} için {amount} ödeyin',
  onlyOn: 'Yalnızca {network} ağı üzerinden {currency} gönderin. Başka her şey kaybolabilir.',
  payBy: 'Son ödeme zamanı',
  minutesLeft: { one: 'Ödeme için {count} dakika kaldı', other: 'Ödeme için {count} dakika kaldı' },
  notPayableTitle: 'Bu ödeme yapılamıyor',
  notPayableLead: 'Hiçbir şey göndermeyin. Ödeme kimliğini vererek {merchant} ile görüşün.',
  timeUpTitle: 'Ödeme süresi doldu',
  timeUpLead: 'Şimdi göndermeyin. Zaten gönderdiyseniz burada bekleyin; ödeme ağa ulaşır ulaşmaz görünür.',
  timeUpFunds: 'Şu ana kadar {amount} tutarının {received} kadarı ulaştı.',

  waysToPay: 'Ödeme yolları',
  wallet: 'Cüzdan',
  qrCode: 'QR kodu',
  address: 'Adres',
  walletLead: 'Cüzdanınızı seçin ve ödemeyi orada onaylayın.',
  walletApps: 'Bu sayfayı cüzdan uygulamanızda açın:',
  walletOpen: 'Bir cüzdan uygulamasında aç',
  walletNone:
    'Bu tarayıcıda cüzdan bulunamadı. Ödemeyi bir cüzdan uygulamasında açın, QR kodunu okutun veya adresi kopyalayın.',
  walletConnecting: 'Cüzdanınıza bağlanılıyor…',
  walletSwitching: 'Cüzdanınız {network} ağına geçiriliyor…',
  walletConfirm: 'Ödemeyi cüzdanınızda onaylayın.',
  walletSent: 'Gönderildi. Ödeme ağa ulaşır ulaşmaz bu sayfada görünür.',
  walletRefused: 'Cüzdanınız bu ödemeyi onaylamadı. Hiçbir şey gönderilmedi.',
  walletChainUnknown:
    'Cüzdanınız {network} ağına geçemedi. Ağı cüzdana ekleyip yeniden deneyin ya da QR kodu veya adres ile ödeyin.',
  walletInsufficient: 'Bu cüzdanda yeterli {currency} yok ya da ağ ücreti için yeterli {coin} yok.',
  walletFailed: 'Cüzdan ödemeyi gönderemedi. Yeniden denemeden önce cüzdanın geçmişine bakın.',
  walletReverted:
    'Ağ bu işlemi reddetti. Hiçbir şey ödenmedi, ancak ağ ücreti alınmış olabilir. Yeniden deneyebilirsiniz.',
  walletUnseen:
    'Bu işlem birkaç dakikadır ağda görünmüyor. Cüzdanınızın geçmişine bakın: Hâlâ bekliyorsa bekleyin, yalnızca başarısız olduysa ya da kaybolduysa yeniden deneyin.',
  qrRequest: 'Ödeme isteği',
  qrRequestHint: 'Tutarı, ağı ve adresi doldurur.',
  qrAddress: 'Yalnızca adres',
  qrAddressHint: 'Cüzdanınız diğer kodu okumuyorsa. {remaining} tutarını ve {network} ağını kendiniz girin.',
  addressLead: '{network} ağı üzerinden bu adrese tam olarak {remaining} gönderin:',
  exchangeHint: 'Borsadan mı ödüyorsunuz? Borsanın ücreti tutardan düşülmemeli: Tam olarak {remaining} ulaşmalı.',

  copy: 'Kopyala',
  copied: 'Kopyalandı',
  copyAmount: 'Tutarı kopyala',
  copyAddress: 'Adresi kopyala',
  copyPaymentId: 'Ödeme numarasını kopyala',

  underpaidTitle: '{merchant} için kalan {remaining} tutarını ödeyin',
  underpaidLead: '{amount} tutarının {received} kadarı ulaştı. Kalanını süre dolmadan gönderin.',
  received: 'Alınan',

  confirmingTitle: 'Ödemeniz onaylanıyor',
  confirmingLead:
    '{merchant} için gönderilen {received} ağa ulaştı. Bu sayfayı kapatabilirsiniz: Ödeme kesinleştiğinde {merchant} haberdar olur.',
  confirmingCount: 'Onay: {current} / {required}',
  confirmingFinality: '{network} ağının ödemeyi kesinleştirmesi bekleniyor',
  expectedTime: 'Beklenen süre: {duration}',
  expectedSoon: 'Beklenen süre: bir dakikadan az',
  expectedFinality: 'Ağa göre birkaç saniye ile yarım saat arasında sürer.',

  completedTitle: '{merchant} için {received} ödediniz',
  completedLead: 'Ödeme tamamlandı.',
  overpaidLead:
    'Ödeme tamamlandı. İstenenden {extra} fazla gönderdiniz: Fark için lütfen {merchant} ile iletişime geçin.',
  receipt: 'Makbuz',
  amountPaid: 'Ödenen tutar',
  amountAsked: 'İstenen tutar',
  paidTo: 'Alıcı',
  paidAt: 'Tarih',
  print: 'Yazdır',
  goingBack: '{count} sn içinde geri dönülüyor',
  stayHere: 'Burada kal',
  backTo: '{merchant} sitesine dön',

  expiredTitle: 'Bu ödemenin süresi doldu',
  expiredLead: 'Şimdi göndermeyin. {amount} ödemek için {merchant} ile iletişime geçip yeni bir ödeme isteyin.',
  expiredAt: 'Süresi doldu',
  alreadySent: 'Zaten gönderdiniz mi?',
  alreadySentHelp:
    'Burada bekleyin: Ödeme ağa ulaşır ulaşmaz görünür. Hiçbir şey değişmezse ödeme numarasını ve işleminizi {merchant} ile paylaşın.',

  expiredWithFundsTitle: 'Paranız ulaştı ama ödemenin süresi doldu',
  lateLead: '{received} süre dolduktan sonra ulaştı.',
  lateInPartLead: '{received} ulaştı, bir kısmı süre dolduktan sonra.',
  tooLittleLead: 'Süre dolmadan {amount} tutarının yalnızca {received} kadarı ulaştı.',
  askMerchant:
    'Daha fazla göndermeyin. {merchant} ile iletişime geçin, ödeme numarasını verin ve paranın kabul edilmesini veya iadesini isteyin.',
  contact: '{merchant} ile iletişime geç',

  canceledTitle: 'Bu ödeme iptal edildi',
  canceledLead: '{merchant} ödemeyi iptal etti. Şimdi göndermeyin.',
  canceledFunds: 'Buna rağmen {received} ulaştı.',

  reversedTitle: 'Ağ ödemenizi geri aldı',
  reversedLead:
    'Ödemeyi içeren {network} blokları, ödeme tamamlandıktan sonra değiştirildi. Kendiliğinden geri gelebilir: Yeniden göndermeyin. {merchant} ile iletişime geçin ve ödeme numarasını verin.',

  strays:
    'Bu adrese başka bir token ya da başka bir ağdan para ulaştı. Bu ödemeye sayılmaz ve yalnızca {merchant} iade edebilir.',
  slowNetwork: '{network} ağındaki ödemelerin görünmesi şu anda daha uzun sürebilir. İki kez ödemeyin.',

  details: 'Ayrıntılar',
  paymentId: 'Ödeme numarası',
  network: 'Ağ',
  description: 'Açıklama',
  transactions: { one: 'İşlem', other: 'İşlemler' },
  moreTransactions: { one: 've {count} tane daha', other: 've {count} tane daha' },
  transactionConfirming: 'onaylanıyor',
  transactionConfirmed: 'onaylandı',
  explorer: 'Blok gezgininde görüntüle',

  unknownTitle: 'Böyle bir ödeme yok',
  unknownLead: 'Bağlantıyı kontrol edin ya da size verene sorun.',
  blockedTitle: 'Ödeme yapmayın',
  blockedLead:
    'Bu ödemenin adresi bir denetimden geçemedi ve bu yüzden gösterilmiyor. Hiçbir şey göndermeyin ve satıcıya haber verin.',
  unavailableTitle: 'Bu sayfa şu anda gösterilemiyor',
  unavailableLead: 'Birazdan yeniden deneyin. Zaten ödediyseniz bir daha ödemeyin.',
  tryAgain: 'Yeniden dene',
};
