import SerialPort
import Transports

/// A serial port as programs are told of it.
struct PortRecord: Encodable {
    /// What happened to it, where ports are watched.
    var event: String?
    /// The device node.
    var port: String
    /// What names it wherever its node is.
    var endpoint: String?
    var links: [String]
    var byID: String?
    var byPath: String?
    /// Four hexadecimal digits, as is `productID`.
    var vendorID: String?
    var productID: String?
    var manufacturer: String?
    var product: String?
    var serialNumber: String?
    var interface: Int?
    var driver: String?
    var physicalPath: String?
    var pathTag: String?
    var board: String?
    var isInUse: Bool?
    var holders: [HolderRecord]?

    enum CodingKeys: String, CodingKey {
        case event, port, endpoint, links, manufacturer, product, interface, driver, board, holders
        case byID = "by_id"
        case byPath = "by_path"
        case vendorID = "vendor_id"
        case productID = "product_id"
        case serialNumber = "serial_number"
        case physicalPath = "physical_path"
        case pathTag = "id_path"
        case isInUse = "in_use"
    }

    /// - Parameters:
    ///   - holders: Who has it open; nil for a port that is gone.
    ///   - ports: All that are there, from which the endpoint tells it.
    init(_ info: SerialPortInfo, event: String? = nil, holders: [PortHolder]?, among ports: [SerialPortInfo]) {
        self.event = event
        port = info.path
        endpoint = USBEndpoint.naming(info, among: ports)?.description
        links = info.links
        byID = info.byIDLinks.first
        byPath = info.byPathLinks.first
        vendorID = info.usb.map { USBIdentifier.digits($0.identifier.vendor) }
        productID = info.usb.map { USBIdentifier.digits($0.identifier.product) }
        manufacturer = info.usb?.manufacturer
        product = info.usb?.product
        serialNumber = info.usb?.serialNumber
        interface = info.usb?.interfaceNumber
        driver = info.driver
        physicalPath = info.usb?.physicalPath
        pathTag = info.pathTag
        board = info.board?.description
        isInUse = holders.map { !$0.isEmpty }
        self.holders = holders?.map(HolderRecord.init)
    }
}

/// A process that has a port open.
struct HolderRecord: Encodable {
    var pid: Int32
    var command: String
    /// Whether it has locked the port.
    var isLocked: Bool

    enum CodingKeys: String, CodingKey {
        case pid, command
        case isLocked = "locked"
    }

    init(_ holder: PortHolder) {
        pid = holder.processID
        command = holder.command
        isLocked = holder.holdsLock
    }
}
