/// The styles that all date texts under one key have in common.
struct DateEvidence: Sendable {
    private var layout: DateStyle.Layout?
    /// The indices in `DateStyle.Fraction.all` of the possible fractions, as bits.
    private var fractions: UInt16 = 0
    private var zone: [UInt8] = []
    private var hasFailed = false

    /// The preferred common style; nil if there are no dates or no common style.
    var style: DateStyle? {
        guard !hasFailed, let layout else { return nil }
        guard layout.hasFraction else { return DateStyle(layout, zone: String(decoding: zone, as: UTF8.self)) }
        return DateStyle.Fraction.all.enumerated().first { fractions & (1 << $0.offset) != 0 }.map {
            DateStyle(layout, $0.element, zone: String(decoding: zone, as: UTF8.self))
        }
    }

    /// Adds a text.
    ///
    /// - Returns: Whether the text is a date in a style that all dates so far share.
    mutating func add(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !hasFailed, let reading = DateReading(text) else { return false }
        var found: UInt16 = 0
        for (index, fraction) in DateStyle.Fraction.all.enumerated()
        where fraction.holds(digitCount: reading.digitCount, microseconds: reading.fraction) {
            found |= 1 << index
        }
        let zone = reading.zone(in: text)
        if let layout {
            fractions &= found
            hasFailed = layout != reading.layout || fractions == 0 || !zone.elementsEqual(self.zone)
        } else {
            layout = reading.layout
            fractions = found
            self.zone = Array(zone)
        }
        return !hasFailed
    }

    /// Adds the dates of other evidence.
    mutating func absorb(_ other: DateEvidence) {
        guard other.layout != nil || other.hasFailed else { return }
        guard let layout, !hasFailed else {
            if !hasFailed { self = other }
            return
        }
        fractions &= other.fractions
        hasFailed = other.hasFailed || layout != other.layout || fractions == 0 || zone != other.zone
    }
}
