extension SerialPortInfo: Encodable {
    private enum CodingKeys: String, CodingKey {
        case port, links, manufacturer, product, interface, driver, board
        case byID = "by_id"
        case byPath = "by_path"
        case vendorID = "vendor_id"
        case productID = "product_id"
        case serialNumber = "serial_number"
        case physicalPath = "physical_path"
        case pathTag = "id_path"
    }

    /// Encodes an object with the keys `port` (the node), `links`, `by_id` and `by_path` (the first of each),
    /// `vendor_id` and `product_id` (four hexadecimal digits), `manufacturer`, `product`, `serial_number`, `interface`,
    /// `driver`, `physical_path`, `id_path` and `board`. Keys with unknown values are left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .port)
        try container.encode(links, forKey: .links)
        try container.encodeIfPresent(byIDLinks.first, forKey: .byID)
        try container.encodeIfPresent(byPathLinks.first, forKey: .byPath)
        try container.encodeIfPresent(usb.map { USBIdentifier.digits($0.identifier.vendor) }, forKey: .vendorID)
        try container.encodeIfPresent(usb.map { USBIdentifier.digits($0.identifier.product) }, forKey: .productID)
        try container.encodeIfPresent(usb?.manufacturer, forKey: .manufacturer)
        try container.encodeIfPresent(usb?.product, forKey: .product)
        try container.encodeIfPresent(usb?.serialNumber, forKey: .serialNumber)
        try container.encodeIfPresent(usb?.interfaceNumber, forKey: .interface)
        try container.encodeIfPresent(driver, forKey: .driver)
        try container.encodeIfPresent(usb?.physicalPath, forKey: .physicalPath)
        try container.encodeIfPresent(pathTag, forKey: .pathTag)
        try container.encodeIfPresent(board?.description, forKey: .board)
    }
}

extension PortHolder: Encodable {
    private enum CodingKeys: CodingKey { case pid, command, locked }

    /// Encodes an object with the keys `pid`, `command`, and `locked`: whether the process has locked the port.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(processID, forKey: .pid)
        try container.encode(command, forKey: .command)
        try container.encode(holdsLock, forKey: .locked)
    }
}
