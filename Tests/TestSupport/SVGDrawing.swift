public import Foundation
public import FoundationXML

/// The content of an SVG drawing that `Charts` has made, for tests of its layout.
public final class SVGDrawing: NSObject, XMLParserDelegate {
    public private(set) var texts: [String] = []
    /// The bounds of each of ``texts``. Their width is an estimate for Helvetica.
    public private(set) var boxes: [CGRect] = []
    /// The points of each polyline, as `x,y`. A polyline shows a series of values.
    public private(set) var lines: [[String]] = []
    /// The rectangles that are not white. Such a rectangle shows a state.
    public private(set) var bands: [CGRect] = []
    /// The width and height of the drawing, from its `viewBox`; zero if there is none.
    public private(set) var size = CGRect.zero
    private var text: (attributes: [String: String], content: String)?

    /// - Throws: An error if the SVG is not well-formed.
    public init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        if !parser.parse() { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
    }

    public func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        func number(_ name: String) -> Double { attributes[name].flatMap(Double.init) ?? 0 }
        switch name {
        case "svg":
            let numbers = (attributes["viewBox"] ?? "").split(separator: " ").compactMap { Double($0) }
            if numbers.count == 4 { size = CGRect(x: 0, y: 0, width: numbers[2], height: numbers[3]) }
        case "text": text = (attributes, "")
        case "polyline": lines.append((attributes["points"] ?? "").split(separator: " ").map(String.init))
        case "rect" where attributes["fill"] != "white":
            bands.append(CGRect(x: number("x"), y: number("y"), width: number("width"), height: number("height")))
        default: break
        }
    }

    public func parser(_ parser: XMLParser, foundCharacters string: String) { text?.content += string }

    public func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard name == "text", let text else { return }
        texts.append(text.content)
        func number(_ name: String) -> Double { Double(text.attributes[name] ?? "") ?? 0 }
        // The root element's font size is 13. Helvetica's digits are 0.556 of the font size wide, and few letters are
        // wider. `y` is the baseline, above which letters rise to about 0.8 of the font size.
        let height = max(number("font-size"), 13)
        let width = Double(text.content.count) * height * 0.556
        let shares: [String: Double] = ["middle": 0.5, "end": 1]
        let left = number("x") - width * (shares[text.attributes["text-anchor"] ?? ""] ?? 0)
        boxes.append(CGRect(x: left, y: number("y") - height * 0.8, width: width, height: height))
        self.text = nil
    }
}
