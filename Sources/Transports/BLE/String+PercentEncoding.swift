/// The encoding of names in endpoints, in which `?` begins the options.
extension String {
    /// The text with each `%XX` replaced by its byte; unchanged if the result is not UTF-8.
    package var removingPercentEncoding: String {
        let bytes = Array(utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), let byte = Self.byte(bytes[(index + 1)...].prefix(2)) {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self) ?? self
    }

    /// The text encoded for an endpoint. ``removingPercentEncoding`` restores it.
    package var asEndpointName: String {
        let text = replacing("?", with: "%3F")
        return text.removingPercentEncoding == self
            ? text : replacing("%", with: "%25").replacing("?", with: "%3F")
    }

    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == 2, text.allSatisfy(\.isHexDigit) else { return nil }
        return UInt8(text, radix: 16)
    }
}
